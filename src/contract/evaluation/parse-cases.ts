import type { Static, TSchema } from 'typebox';
import { isJsonObject, type JsonObject, parseJson, tryParseJson } from '#base/json/json.ts';
import { readCsvRows } from '#base/text/csv-rows.ts';
import { PatternError, withPatterns } from '#base/text/patterns.ts';
import { parseMessage } from '../chat/parse-message.ts';
import { ParleyError } from '../errors/errors.ts';
import { createRequestError, joinPath, requireShape } from '../errors/request-error.ts';
import { compileShape } from '../schemas/compile-shape.ts';
import { type CheckType, caseBounds, checkSchemas, type EvaluationCase, type EvaluationCheck } from './evaluation-case.ts';

const checkParsers = new Map(
  Object.entries(checkSchemas).map(([type, schema]) => [
    type,
    { shape: compileShape(schema as TSchema), keys: Object.keys(schema.properties) },
  ]),
);
const caseKeys = ['name', 'input', 'checks'];
const maxSchemaChars = 16_000;
const maxNameLength = 200;

/** Parses one case, a list of cases, or `{"cases": […]}`. Throws `invalid_request` with the path of the error. */
export function parseCases(body: unknown): readonly EvaluationCase[] {
  if (Array.isArray(body)) return parseCaseList(body, '');
  if (isJsonObject(body) && 'cases' in body) {
    rejectUnknown(body, ['cases'], '');
    if (!Array.isArray(body.cases)) throw createRequestError('cases', 'must be an array');
    return parseCaseList(body.cases, 'cases');
  }
  return [parseCase(body)];
}

/** Parses a list of cases. `path` is empty for the body. Throws `invalid_request`. */
export function parseCaseList(list: readonly unknown[], path: string): readonly EvaluationCase[] {
  const subject = path === '' ? 'The body' : path;
  if (list.length === 0) throw createRequestError(subject, 'must have at least one case');
  if (list.length > caseBounds.maxCases) throw createRequestError(subject, `must have at most ${caseBounds.maxCases} cases`);
  if (JSON.stringify(list).length > caseBounds.maxTotalChars)
    throw createRequestError(subject, `must have at most ${caseBounds.maxTotalChars} characters of JSON`);
  const patterns: LocatedPattern[] = [];
  const cases = list.map((item, index) => readCase(item, `${path}[${index}]`, patterns));
  requireValidPatterns(patterns, subject);
  return cases;
}

interface LocatedPattern {
  readonly pattern: string;
  readonly path: string;
}

/** Parses one case. `path` is empty for the body. Throws `invalid_request`. */
export function parseCase(value: unknown, path = ''): EvaluationCase {
  const patterns: LocatedPattern[] = [];
  const parsed = readCase(value, path, patterns);
  requireValidPatterns(patterns, path || 'The body');
  return parsed;
}

/** Parses a stored case. Its patterns are compiled only on use. Throws `invalid_request`. */
export function parseStoredCase(value: unknown): EvaluationCase {
  return readCase(value, '', []);
}

/** Parses a case and collects its patterns, so that all patterns of a body are compiled within one time limit. */
function readCase(value: unknown, path: string, patterns: LocatedPattern[]): EvaluationCase {
  if (!isJsonObject(value)) throw createRequestError(path || 'The body', 'must be an object with input and checks');
  rejectUnknown(value, caseKeys, path);
  const text = JSON.stringify(value);
  if (text.length > caseBounds.maxChars)
    throw createRequestError(path || 'The body', `must have at most ${caseBounds.maxChars} characters of JSON`);
  // Parses a copy, so that the case shares no objects or strings with the request.
  const { name, input, checks = [] } = parseJson(text) as JsonObject;
  if (name !== undefined && name !== null) requireName(name, joinPath(path, 'name'));
  if (!Array.isArray(checks)) throw createRequestError(joinPath(path, 'checks'), 'must be an array');
  if (checks.length > caseBounds.maxChecks)
    throw createRequestError(joinPath(path, 'checks'), `must have at most ${caseBounds.maxChecks} items`);
  return {
    ...(typeof name === 'string' && { name }),
    input: parseInput(input, joinPath(path, 'input')),
    checks: checks.map((item, index) => {
      const checkPath = `${joinPath(path, 'checks')}[${index}]`;
      const check = parseCheck(item, checkPath);
      if (check.type === 'matches') patterns.push({ pattern: check.pattern, path: `${checkPath}.pattern` });
      return check;
    }),
  };
}

function requireName(name: unknown, path: string): void {
  if (typeof name !== 'string') throw createRequestError(path, 'must be a string');
  if (name === '' || name.length > maxNameLength) throw createRequestError(path, `must have 1 to ${maxNameLength} characters`);
}

function parseInput(input: unknown, path: string): EvaluationCase['input'] {
  if (typeof input === 'string' && input !== '') return input;
  if (input === undefined) throw createRequestError(path, 'is required');
  if (!Array.isArray(input) || input.length === 0) throw createRequestError(path, 'must be a string or a list of messages');
  return input.map((message, index) => parseMessage(message, `${path}[${index}]`));
}

function parseCheck(value: unknown, path: string): EvaluationCheck {
  if (!isJsonObject(value)) throw createRequestError(path, 'must be an object');
  const parser = checkParsers.get(String(value.type));
  if (parser === undefined) throw createRequestError(`${path}.type`, `must be one of ${[...checkParsers.keys()].join(', ')}`);
  rejectUnknown(value, parser.keys, path);
  rejectLongTexts(value, path);
  const check = requireShape<Static<(typeof checkSchemas)[CheckType]>>(parser.shape as never, value, path);
  if (check.type === 'json_schema' && JSON.stringify(check.schema).length > maxSchemaChars)
    throw createRequestError(`${path}.schema`, `must have at most ${maxSchemaChars} characters`);
  return check;
}

/** Rejects texts of more than `maxLength` UTF-16 code units. The schema counts a letter with combining marks only once. */
function rejectLongTexts(check: JsonObject, path: string): void {
  const { properties } = checkSchemas[check.type as CheckType];
  for (const [key, { maxLength }] of Object.entries(properties as Record<string, { maxLength?: number }>)) {
    const expected = check[key];
    if (typeof expected === 'string' && maxLength !== undefined && expected.length > maxLength)
      throw createRequestError(`${path}.${key}`, `must have at most ${maxLength} characters`);
  }
}

function requireValidPatterns(patterns: readonly LocatedPattern[], subject: string): void {
  if (patterns.length > caseBounds.maxPatterns)
    throw createRequestError(subject, `must have at most ${caseBounds.maxPatterns} checks of the type "matches"`);
  if (patterns.length === 0) return;
  let current = subject;
  try {
    withPatterns(({ compile }) => {
      for (const { pattern, path } of patterns) {
        current = path;
        compile(pattern);
      }
    });
  } catch (cause) {
    if (!(cause instanceof PatternError)) throw cause;
    throw createRequestError(current, `must be a regular expression that RE2 accepts: ${cause.message}`);
  }
}

function rejectUnknown(value: JsonObject, knownFields: readonly string[], path: string): void {
  const unknown = Object.keys(value).find((key) => !knownFields.includes(key));
  if (unknown !== undefined)
    throw createRequestError(
      joinPath(path, unknown.slice(0, 64)),
      `is not a known field. Known fields: ${knownFields.join(', ')}`,
    );
}

/** Body of a request that starts an evaluation. */
export interface EvaluationRequest {
  /** Default: the version in effect. */
  readonly version?: number;
  /** Number of concurrent cases. Default: the maximum of the service. */
  readonly parallel?: number;
  /** Cases to run instead of the stored cases of the application. */
  readonly cases?: readonly EvaluationCase[];
}

const requestKeys = ['version', 'parallel', 'cases'];
const maxParallel = 64;
const maxVersion = 2 ** 31 - 1;

/** Schema of `EvaluationRequest` for the API description, without `cases`. */
export const EvaluationRequestSchema = {
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

/** Parses the body of a request that starts an evaluation. Throws `invalid_request`. */
export function parseEvaluationRequest(body: unknown): EvaluationRequest {
  if (!isJsonObject(body)) throw createRequestError('The body', 'must be an object');
  rejectUnknown(body, requestKeys, '');
  const { cases } = body;
  if (cases !== undefined && !Array.isArray(cases)) throw createRequestError('cases', 'must be an array');
  return {
    ...parseNumber(body.version, 'version', maxVersion),
    ...parseNumber(body.parallel, 'parallel', maxParallel),
    ...(cases !== undefined && { cases: parseCaseList(cases, 'cases') }),
  };
}

function parseNumber(value: unknown, key: 'version' | 'parallel', max: number): { [key: string]: number } {
  if (value === undefined || value === null) return {};
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 1 || value > max)
    throw createRequestError(key, `must be an integer from 1 to ${max}`);
  return { [key]: value };
}

type ToCheck = (cell: string) => JsonObject;

/** Conversions from the cell of a column to a check. */
const columns: Readonly<Record<string, ToCheck>> = {
  contains: (text) => ({ type: 'contains', text }),
  equals: (text) => ({ type: 'equals', text }),
  matches: (pattern) => ({ type: 'matches', pattern }),
  json_schema: (cell) => ({ type: 'json_schema', schema: tryParseJson(cell) ?? cell }),
  calls: toCall,
  does_not_call: (tool) => ({ type: 'does_not_call', tool }),
  max_cost_usd: (cell) => ({ type: 'cost_at_most', usd: tryParseJson(cell) ?? cell }),
  max_seconds: (cell) => ({ type: 'time_at_most', seconds: tryParseJson(cell) ?? cell }),
};
const baseColumns = ['name', 'input', 'judge', 'rubric'];
/** Maximum number of columns. A case has at most 20 checks, but the columns of different cases can differ. */
const maxColumns = 100;

/**
 * Converts the rows of a table to cases without validating them. A column can repeat. Throws `invalid_request` if the header is
 * invalid.
 */
export function parseCsvCases(text: string): readonly JsonObject[] {
  const [header = [], ...rows] = readCsvRows(text.replace(/^\uFEFF/, ''));
  if (header.length > maxColumns) throw createTableError(`has more than ${maxColumns} columns`);
  if (rows.length > caseBounds.maxCases) throw createTableError(`has more than ${caseBounds.maxCases} rows`);
  const names = header.map((name) => name.toLowerCase());
  const knownColumns = [...baseColumns, ...Object.keys(columns)];
  const unknown = names.find((name) => !knownColumns.includes(name));
  if (unknown !== undefined)
    throw createTableError(
      `has the unknown column ${JSON.stringify(unknown.slice(0, 64))}. Known columns: ${knownColumns.join(', ')}`,
    );
  if (!names.includes('input')) throw createTableError('must have the column "input" in its first line');
  return rows.map((row) => toCase(names, row));
}

function toCase(names: readonly string[], row: readonly string[]): JsonObject {
  const getCell = (name: string): string => row[names.indexOf(name)] ?? '';
  const checks = names.flatMap((name, index) => {
    const cell = row[index] ?? '';
    const toCheck = Object.hasOwn(columns, name) ? columns[name] : undefined;
    return cell === '' || toCheck === undefined ? [] : [toCheck(cell)];
  });
  const [name, deployment, rubric] = ['name', 'judge', 'rubric'].map(getCell);
  if (deployment || rubric) checks.push({ type: 'judged', ...(deployment && { deployment }), ...(rubric && { rubric }) });
  return { ...(name && { name }), input: getCell('input'), checks };
}

/** Parses `find_items`, or `find_items {"shop": "north"}`. */
function toCall(cell: string): JsonObject {
  const at = cell.indexOf('{');
  if (at === -1) return { type: 'calls', tool: cell };
  const cellText = cell.slice(at);
  return { type: 'calls', tool: cell.slice(0, at).trim(), arguments: tryParseJson(cellText) ?? cellText };
}

function createTableError(claim: string): ParleyError {
  return new ParleyError('invalid_request', `The table ${claim}.`);
}
