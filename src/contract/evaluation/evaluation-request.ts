import { isJsonObject } from '#base/json/json.ts';
import { createRequestError } from '../errors/request-error.ts';
import type { EvaluationCase } from './evaluation-case.ts';
import { parseList } from './parse-cases.ts';

/** Body of a request that starts an evaluation. */
export interface EvaluationRequest {
  /** Default: the version in force. */
  readonly version?: number;
  /** Number of concurrent cases. Default: the maximum of the service. */
  readonly parallel?: number;
  /** Cases that replace the stored cases of the application. */
  readonly cases?: readonly EvaluationCase[];
}

const knownFields = ['version', 'parallel', 'cases'];
const maxParallel = 64;
const highestVersion = 2 ** 31 - 1;

/** Schema for the API description. */
export const EvaluationRequestForm = {
  type: 'object',
  additionalProperties: false,
  properties: {
    version: { type: 'integer', minimum: 1, description: 'Version number. Default: the version in effect.' },
    parallel: {
      type: 'integer',
      minimum: 1,
      maximum: maxParallel,
      description: 'Number of concurrent cases. Maximum and default: `evaluations.maxParallel` of the configuration.',
    },
  },
};

/** Throws `invalid_request`. */
export function parseEvaluationRequest(body: unknown): EvaluationRequest {
  if (!isJsonObject(body)) throw createRequestError('The body', 'must be an object');
  const unknown = Object.keys(body).find((key) => !knownFields.includes(key));
  if (unknown !== undefined)
    throw createRequestError(unknown.slice(0, 64), `is not a known field. Known fields: ${knownFields.join(', ')}`);
  const { cases } = body;
  if (cases !== undefined && !Array.isArray(cases)) throw createRequestError('cases', 'must be an array');
  return {
    ...parseNumber(body.version, 'version', highestVersion),
    ...parseNumber(body.parallel, 'parallel', maxParallel),
    ...(cases !== undefined && { cases: parseList(cases, 'cases') }),
  };
}

function parseNumber(value: unknown, key: 'version' | 'parallel', most: number): { [key: string]: number } {
  if (value === undefined || value === null) return {};
  const number = Number(value);
  if (typeof value !== 'number' || !Number.isInteger(number) || number < 1 || number > most)
    throw createRequestError(key, `must be an integer from 1 to ${most}`);
  return { [key]: number };
}
