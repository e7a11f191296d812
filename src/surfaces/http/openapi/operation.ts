import type { ErrorCode } from '#contract/errors/errors.ts';

/** A JSON Schema, such as a TypeBox schema. It may contain a `NamedSchema` wherever JSON Schema allows a schema. */
export type Schema = object;

/** A schema that the document contains once, under its name. Other places refer to it. */
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
  /** Example value. A request with it gets the documented response. */
  readonly example?: string | number | boolean;
}

/** Example body: JSON, text, or form fields. A request with it gets the documented response. */
interface Example {
  readonly summary: string;
  readonly value: unknown;
}

/** Schema and examples of a body in one media type. */
export interface Content {
  readonly type: string;
  readonly schema: Schema | NamedSchema;
  /** Examples of a request body, with unique names. */
  readonly examples?: Readonly<Record<string, Example>>;
}

export interface ApiResponse {
  /** HTTP status. `default` covers every status without its own description. */
  readonly status: number | 'default';
  readonly description: string;
  readonly content?: readonly Content[];
}

/** Format of the errors of an operation. */
export interface ErrorShape {
  readonly body: NamedSchema;
  /** Media type of errors. Default: `application/json`. */
  readonly mediaType?: string;
  /** Returns the text about one error code for the description of a status. */
  readonly describe: (code: ErrorCode) => string;
}

/** Sections of the document, in order. */
export const openApiTags = {
  Chat: 'Chat completions of models and applications, compatible with the OpenAI API.',
  Embeddings: 'Text embeddings, compatible with the OpenAI API.',
  'Further APIs': 'Text, image, audio, and reranking APIs, compatible with the OpenAI API family, if the model supports them.',
  Messages: 'Chat completions of the same deployments, compatible with the Anthropic Messages API.',
  Responses: 'Chat completions of the same deployments, compatible with the OpenAI Responses API.',
  MCP: 'Deployments as Model Context Protocol servers.',
  Listings: 'The deployments that the caller may use.',
  Limits: 'Identity and usage of the caller.',
  Keys: 'API keys that users create for themselves.',
  Consent: 'Deployments that applications may call on behalf of the user.',
  Applications: 'Applications that users create, and the resources for building them.',
  Chats: 'Conversations of the page, synchronized across the devices of a user.',
  Files: 'Stored files. Each user, or project of a key, has a bucket.',
  Administration: 'For callers with the role `admin`. Callers with the role `auditor` can read.',
  'Signing in': 'User sign-in.',
  Provisioning: 'SCIM 2.0 (RFC 7644), for keys with the role `scim`.',
  Operations: 'For operators and monitoring tools.',
} as const;

/** One method of a path, for `/openapi.json`. It does not validate requests, but a test sends its examples to the route. */
export interface ApiOperation {
  readonly method: 'get' | 'head' | 'put' | 'post' | 'patch' | 'delete' | 'options';
  /** Path pattern, such as `/v1/deployments/{id}/limits`. */
  readonly path: string;
  readonly id: string;
  readonly tag: keyof typeof openApiTags;
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly body?: readonly Content[];
  /** Whether the body is optional. */
  readonly isBodyOptional?: boolean;
  /** Successful responses. The description of a response is merged with the errors that have the same status. */
  readonly responses: readonly ApiResponse[];
  /** Error codes in addition to `internal_error`. */
  readonly errors?: readonly ErrorCode[];
  /** Undefined selects the error shape of the chat completions API. */
  readonly errorShape?: ErrorShape;
  /** Whether the operation requires no key. */
  readonly isOpen?: boolean;
  /** Whether `x-api-key` may carry the key. */
  readonly acceptsXApiKey?: boolean;
}

export const anyObject: Schema = { type: 'object' };

/** Response that the deployment's application defines. */
export const unchangedAnswer: ApiResponse = {
  status: 'default',
  description: 'The response of the deployment’s application, unchanged.',
  content: [{ type: '*/*', schema: {} }],
};

export function json(schema: Schema | NamedSchema, examples?: Content['examples']): readonly Content[] {
  return [{ type: 'application/json', schema, ...(examples && { examples }) }];
}

/** Returns a path parameter with an example value. */
export function inPath(name: string, description: string, example: string): Parameter {
  return { name, in: 'path', description, required: true, schema: { type: 'string' }, example };
}

type ParameterDetails = Pick<Parameter, 'schema' | 'example' | 'required'>;

export function inQuery(name: string, description: string, details: ParameterDetails = {}): Parameter {
  return { name, in: 'query', description, schema: { type: 'string' }, ...details };
}

export function inHeader(name: string, description: string, details: ParameterDetails = {}): Parameter {
  return { name, in: 'header', description, schema: { type: 'string' }, ...details };
}

/** Returns the schema of an object. All properties are required except those that `optional` lists. */
export function buildObject(
  properties: Readonly<Record<string, Schema | NamedSchema>>,
  optional: readonly string[] = [],
): Schema {
  return { type: 'object', required: Object.keys(properties).filter((name) => !optional.includes(name)), properties };
}

/** Returns the schema of an object without required properties. */
export function buildOptionalObject(properties: Readonly<Record<string, Schema | NamedSchema>>): Schema {
  return { type: 'object', properties };
}

export function buildArray(items: Schema | NamedSchema): Schema {
  return { type: 'array', items };
}

/** Returns the schema of one page of a list. */
export function buildPage(items: Schema | NamedSchema): Schema {
  return buildObject({ object: { const: 'list' }, data: buildArray(items), nextToken });
}

/** Returns the schema of a list without pages. */
export function buildList(items: Schema | NamedSchema): Schema {
  return buildObject({ object: { const: 'list' }, data: buildArray(items) });
}

/**
 * Optional parameter for operations with two media types. Some generators create invalid clients for such operations if they
 * have no optional parameter.
 */
export const traceparent: Parameter = inHeader(
  'traceparent',
  'Trace context of the caller (W3C Trace Context). If it is missing or malformed, Parley starts a new trace.',
);

/** An operation without its method and path. The tag can come from the fields that all operations of a table share. */
type DescribedOperation = Partial<ApiOperation> & Pick<ApiOperation, 'id' | 'summary' | 'responses'>;

/** Operations by method and path, such as `get /v1/chats/{chat}`. */
export type OperationTable = Readonly<Record<string, DescribedOperation>>;

/** Fields of all operations of a table. Operations that require a key have its `errors` in addition to their own. */
type SharedFields = Partial<ApiOperation> & Pick<ApiOperation, 'tag'>;

/** Returns the operations of a table, in its order. Fields of an operation take precedence over shared fields. */
export function listOperations({ errors: sharedErrors = [], ...shared }: SharedFields, table: OperationTable): ApiOperation[] {
  return Object.entries(table).map(([name, { errors = [], ...described }]) => {
    const [method, path = ''] = name.split(' ');
    const operation = { ...shared, method: method as ApiOperation['method'], path, ...described };
    return { ...operation, errors: operation.isOpen ? errors : [...sharedErrors, ...errors] };
  });
}

/** Returns a response with a body in JSON, or without a body. */
export function reply(status: number, description: string, schema?: Schema | NamedSchema): ApiResponse {
  return { status, description, ...(schema && { content: json(schema) }) };
}

export function nameSchema(name: string, schema: Schema): NamedSchema {
  return { name, schema };
}

/** Returns the named schema of an object. All properties are required except those that `optional` lists. */
export function nameObject(name: string, ...fields: Parameters<typeof buildObject>): NamedSchema {
  return { name, schema: buildObject(...fields) };
}

export const text = { type: 'string' };
export const moment = { type: 'integer', description: 'Milliseconds since the epoch.' };

export function orNull(type: string, description?: string): Schema {
  return { type: [type, 'null'], ...(description && { description }) };
}

export const nextToken = orNull('string', 'The `token` of the next page. Null after the last page.');
export const pageToken = inQuery('token', '`nextToken` of the previous page.');

/** Returns the headers `If-Match` and `If-None-Match` of an item that has an ETag. */
export function listConditions(item: string): readonly [Parameter, Parameter] {
  const any = `\`*\` matches any existing ${item}.`;
  const none = `With \`*\`, the ${item} must not exist.`;
  return [
    inHeader('If-Match', `ETags. The ETag of the ${item} must be one of them. ${any}`, { example: '*' }),
    inHeader('If-None-Match', `ETags. The ETag of the ${item} must not be one of them. ${none}`, { example: '"2f8b1c"' }),
  ];
}

/** Returns the suffix of operation IDs for a path prefix. */
export function toIdSuffix(prefix: string): string {
  return prefix.replace(/[^a-z0-9]+/gi, '_');
}
