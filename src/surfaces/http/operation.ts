import type { ErrorCode } from '#contract/errors.ts';

/** A JSON Schema; a TypeBox schema is one. */
export type Schema = object;

/** A schema that several operations share; it is shown once, under its name. */
export interface NamedSchema {
  readonly name: string;
  readonly schema: Schema;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly description: string;
  readonly schema?: Schema;
  readonly required?: boolean;
}

/** A body as one media type carries it. */
export interface Content {
  readonly type: string;
  readonly schema: Schema | NamedSchema;
}

export interface Answer {
  readonly status: number;
  readonly description: string;
  readonly content?: readonly Content[];
}

/** What one method of one path does, for `/openapi.json`. Nothing checks requests with it. */
export interface ApiOperation {
  readonly method: 'get' | 'head' | 'put' | 'post' | 'delete' | 'options';
  /** Such as `/v1/deployments/{id}/limits`. */
  readonly path: string;
  readonly id: string;
  /** The chapter it stands in. */
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly body?: readonly Content[];
  readonly answers: readonly Answer[];
  /** Codes of its errors beside `internal_error`. */
  readonly errors?: readonly ErrorCode[];
  /** Served without a key. */
  readonly isOpen?: boolean;
}

export const anyObject: Schema = { type: 'object' };

export function json(schema: Schema | NamedSchema): readonly Content[] {
  return [{ type: 'application/json', schema }];
}

/** A parameter of the path; ids of deployments may hold slashes. */
export function inPath(name: string, description: string): Parameter {
  return { name, in: 'path', description, required: true, schema: { type: 'string' } };
}

export function inQuery(name: string, description: string, schema: Schema = { type: 'string' }): Parameter {
  return { name, in: 'query', description, schema };
}

export function inHeader(name: string, description: string, schema: Schema = { type: 'string' }): Parameter {
  return { name, in: 'header', description, schema };
}

/** The schema of a whole list, as most listings answer. */
export function listOf(items: Schema): Schema {
  return {
    type: 'object',
    required: ['object', 'data'],
    properties: { object: { const: 'list' }, data: { type: 'array', items } },
  };
}

/** Errors of every operation that needs a key. */
export const keyErrors: readonly ErrorCode[] = [
  'ambiguous_credentials',
  'missing_credentials',
  'invalid_api_key',
  'invalid_token',
];

/** Errors of every operation that a deployment answers. */
export const callErrors: readonly ErrorCode[] = [
  'operation_not_supported',
  'access_denied',
  'consent_required',
  'deployment_not_found',
  'payload_too_large',
  'unsupported_media_type',
  'upstream_rate_limited',
  'upstream_failed',
  'overloaded',
  'upstream_unavailable',
  'shutting_down',
];

/** Errors of calls that are counted. */
export const limitErrors: readonly ErrorCode[] = ['token_limit_exceeded', 'request_limit_exceeded', 'cost_limit_exceeded'];
