import type { ErrorCode } from '#contract/errors/errors.ts';

/** A JSON Schema, such as a TypeBox schema. Wherever a schema may stand in it, a `NamedSchema` may stand too. */
export type Schema = object;

/** A schema that stands in the document once, under its name, and is referred to. */
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
  /** A value that is answered as documented. */
  readonly example?: string | number | boolean;
}

/** A body that is answered as documented: JSON, text, or the fields of a form. */
interface Example {
  readonly summary: string;
  readonly value: unknown;
}

/** A body as one media type carries it. */
export interface Content {
  readonly type: string;
  readonly schema: Schema | NamedSchema;
  /** Of a request, by names that are unique within it. */
  readonly examples?: Readonly<Record<string, Example>>;
}

export interface Answer {
  /** `default` stands for every status that is not described. */
  readonly status: number | 'default';
  readonly description: string;
  readonly content?: readonly Content[];
}

/** What errors of an operation look like. */
export interface ErrorShape {
  readonly body: NamedSchema;
  /** What the description of a status says of one of its codes. */
  readonly describe: (code: ErrorCode) => string;
}

/** The chapters of the document, in their order. */
export const chapters = {
  Chat: 'Replies of models and applications, in the form of the OpenAI API.',
  Embeddings: 'Vectors of texts, in the form of the OpenAI API.',
  'Further APIs': 'Texts, pictures, sound and order, in the forms of OpenAI’s family, of models that have them.',
  Messages: 'Replies of the same deployments, in the Messages dialect of the Anthropic API.',
  Responses: 'Replies of the same deployments, in the form of the Responses API.',
  MCP: 'The same deployments as servers of the Model Context Protocol.',
  Listings: 'The deployments that the caller may use.',
  Limits: 'Who the caller is, and what it has used.',
  Keys: 'Keys that users make for themselves.',
  Consent: 'What the user lets applications call on its behalf.',
  Applications: 'Applications that users make, and what is needed to make one.',
  Chats: 'The conversations of the page, the same on every device of a user.',
  Files: 'Stored files: every user, or project of a key, has a bucket.',
  Administration: 'For callers with the role `admin`. Callers with the role `auditor` can read.',
  'Signing in': 'How people sign in.',
  Operations: 'For operators and their tools.',
} as const;

/** One method of one path, for `/openapi.json`. Requests are not checked with it; a test sends its examples to the route. */
export interface ApiOperation {
  readonly method: 'get' | 'head' | 'put' | 'post' | 'delete' | 'options';
  /** Such as `/v1/deployments/{id}/limits`. */
  readonly path: string;
  readonly id: string;
  readonly tag: keyof typeof chapters;
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly body?: readonly Content[];
  /** Whether the request may come without it. */
  readonly isBodyOptional?: boolean;
  /** An answer that has the status of errors too is described together with them. */
  readonly answers: readonly Answer[];
  /** Codes of its errors beside `internal_error`. */
  readonly errors?: readonly ErrorCode[];
  /** Absent: that of the compat surface. */
  readonly errorShape?: ErrorShape;
  /** Whether it is served without a key. */
  readonly isOpen?: boolean;
  /** Whether a key may also come in `x-api-key`. */
  readonly takesXApiKey?: boolean;
}

export const anyObject: Schema = { type: 'object' };

/** What a program of the deployment answers in its own words. */
export const asItCame: Answer = {
  status: 'default',
  description: 'What the program of the deployment answers, as it came.',
  content: [{ type: '*/*', schema: {} }],
};

export function json(schema: Schema | NamedSchema, examples?: Content['examples']): readonly Content[] {
  return [{ type: 'application/json', schema, ...(examples && { examples }) }];
}

/** A parameter of the path, with the value that examples have. */
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

/** Returns the schema of one page of a list. `nextToken` is the schema of the field with that name. */
export function buildPage(items: Schema | NamedSchema, nextToken: Schema): Schema {
  return buildObject({ object: { const: 'list' }, data: buildArray(items), nextToken });
}

/** Returns the schema of a complete list, which is the answer of most listings. */
export function buildList(items: Schema | NamedSchema): Schema {
  return buildObject({ object: { const: 'list' }, data: buildArray(items) });
}

/** Stands with operations that take bodies of two types: of such a body and no optional parameter some generators make clients that cannot be loaded. */
export const traceparent: Parameter = inHeader(
  'traceparent',
  'The trace that the call belongs to (W3C Trace Context). Absent, or of another form: a new one.',
);
