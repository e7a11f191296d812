import { hasDefault, isJsonObject, type JsonObject } from '#base/json/json.ts';
import { type ErrorCode, errorKinds } from '#contract/errors/errors.ts';
import {
  type ApiOperation,
  type Content,
  type NamedSchema,
  openApiTags,
  type Parameter,
  type Schema,
} from '../http/openapi/operation.ts';
import { compatErrorShape } from '../http/openapi/operation-errors.ts';

type Document = Record<string, unknown>;

const info = {
  title: 'Parley API',
  description: 'A gateway for models and applications: chat completions with stages, attachments, state, and consent.',
  license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
};

const securitySchemes = {
  apiKey: { type: 'apiKey', in: 'header', name: 'Api-Key' },
  xApiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'x-api-key',
    description: 'Key in the header that unmodified Anthropic clients send.',
  },
  bearer: { type: 'http', scheme: 'bearer', description: 'A key, or a token of a configured identity provider.' },
};

/** Returns the OpenAPI 3.1 document of an HTTP API. `version` is the version of the program. */
export function toOpenApi(operations: readonly ApiOperation[], version: string): Document {
  const components = new SchemaComponents();
  const paths: Record<string, Document> = {};
  const originals = new Map<string, ApiOperation>();
  for (const operation of operations) {
    const { path, method, summary } = operation;
    const original = originals.get(getKey(operation)) ?? operation;
    originals.set(getKey(operation), original);
    const visibleOperation = original === operation ? operation : toAlias(operation, original);
    const name = original === operation ? summary : `${summary} (${path})`;
    paths[path] = { ...paths[path], [method]: { ...toOperation(visibleOperation, components), summary: name } };
  }
  const used = new Set<string>(operations.map(({ tag }) => tag));
  const tags = Object.entries(openApiTags).filter(([name]) => used.has(name));
  return {
    openapi: '3.1.1',
    info: { ...info, version },
    servers: [{ url: '/' }],
    tags: tags.map(([name, description]) => ({ name, description })),
    paths,
    components: { schemas: components.byName, securitySchemes },
  };
}

/** Describes an operation that is served at a second path. Only the first operation describes the common parts. */
function toAlias(operation: ApiOperation, original: ApiOperation): ApiOperation {
  const body = operation.body?.map(({ examples: _examples, ...bodyContent }) => bodyContent);
  const alias = `Alias of \`${original.method.toUpperCase()} ${original.path}\`.`;
  const isSame = operation.description === original.description;
  const description = isSame || operation.description === undefined ? alias : `${alias} ${operation.description}`;
  return { ...operation, description, ...(body && { body }) };
}

/** Returns a key that is equal for operations that are served at several paths. */
function getKey({ tag, summary }: ApiOperation): string {
  return `${tag}: ${summary}`;
}

function toOperation(operation: ApiOperation, components: SchemaComponents): Document {
  const { id, tag, summary, description, parameters, body, isBodyOptional = false } = operation;
  return {
    operationId: id,
    tags: [tag],
    description: description ?? `${summary}.`,
    ...(parameters && { parameters: parameters.map((parameter) => toParameter(parameter, components)) }),
    ...(body && {
      requestBody: { required: !isBodyOptional, content: toContent(body, (schema) => components.convertRequest(schema)) },
    }),
    responses: toResponses(operation, components),
    security: toSecurity(operation),
  };
}

function toParameter({ schema, ...parameter }: Parameter, components: SchemaComponents): Document {
  return { ...parameter, ...(schema && { schema: components.convert(schema) }) };
}

/** Returns the accepted credentials. Each of them is sufficient. */
function toSecurity({ isOpen, acceptsXApiKey }: ApiOperation): Document[] {
  if (isOpen) return [];
  return [{ apiKey: [] }, ...(acceptsXApiKey ? [{ xApiKey: [] }] : []), { bearer: [] }];
}

function toResponses(operation: ApiOperation, components: SchemaComponents): Document {
  const convert = (schema: Content['schema']): unknown => components.convert(schema);
  const { method, responses: successes, errors = [], errorShape = compatErrorShape, isOpen } = operation;
  const allErrors: ReadonlySet<ErrorCode> = new Set(isOpen ? errors : [...errors, 'internal_error']);
  const codes = Map.groupBy(allErrors, (code): number => errorKinds[code].status);
  const responses: Document = {};
  for (const { status, description, content } of successes) {
    const lines = [description, ...(status === 'default' ? [] : (codes.get(status) ?? [])).map(errorShape.describe)];
    responses[status] = { description: toText(lines), ...(content && { content: toContent(content, convert) }) };
    if (status !== 'default') codes.delete(status);
  }
  const errorContent = method !== 'head' && {
    content: toContent([{ type: errorShape.mediaType ?? 'application/json', schema: errorShape.body }], convert),
  };
  for (const [status, statusCodes] of codes)
    responses[status] = { description: toText(statusCodes.map(errorShape.describe)), ...errorContent };
  return responses;
}

function toText(lines: readonly string[]): string {
  return [...new Set(lines)].join('\n\n');
}

function toContent(content: readonly Content[], convert: (schema: Content['schema']) => unknown): Document {
  return Object.fromEntries(
    content.map(({ type, schema, examples }) => [type, { schema: convert(schema), ...(examples && { examples }) }]),
  );
}

/** Keywords whose value is a schema or a list of schemas. */
const schemaKeywords = ['items', 'additionalProperties', 'propertyNames', 'anyOf', 'oneOf', 'allOf', 'not'];

/** Schemas of a document. A named schema is defined once and referenced elsewhere. */
class SchemaComponents {
  readonly #byName: Record<string, unknown> = {};
  /** Whether the current schema belongs to a request. */
  #isRequest = false;

  /** Named schemas. Complete after the last conversion. */
  get byName(): Readonly<Record<string, unknown>> {
    return this.#byName;
  }

  /** Returns the document's version of a schema: a reference to a named schema, or a copy. */
  convert(schema: unknown): unknown {
    if (Array.isArray(schema)) return schema.map((item) => this.convert(item));
    if (!isJsonObject(schema)) return schema;
    return isNamed(schema) ? this.#refer(schema) : this.#copy(schema);
  }

  /**
   * Returns the document's version of a request schema. Allows additional fields explicitly, because client generators would
   * reject them otherwise.
   */
  convertRequest(schema: Schema | NamedSchema): unknown {
    this.#isRequest = true;
    const converted = this.convert(schema);
    this.#isRequest = false;
    return converted;
  }

  #refer({ name, schema }: NamedSchema): JsonObject {
    this.#byName[name] ??= this.convert(schema);
    return { $ref: `#/components/schemas/${name}` };
  }

  /**
   * Copies a schema. Moves a default to the description and makes its property optional, because client generators require
   * properties with `default`. Removes the validation message, which is not a JSON Schema keyword. Keeps `writeOnly` only in
   * requests, because responses may contain a masked secret.
   */
  #copy({
    errorMessage: _errorMessage,
    default: defaultValue,
    required,
    properties,
    writeOnly,
    ...plain
  }: JsonObject): JsonObject {
    const copy: JsonObject = { ...plain, ...(this.#isRequest && writeOnly !== undefined && { writeOnly }) };
    for (const key of schemaKeywords) if (key in plain) copy[key] = this.convert(plain[key]);
    if (defaultValue !== undefined) copy.description = appendDefault(plain.description, defaultValue);
    const isUnspecified = copy.type === 'object' && copy.additionalProperties === undefined;
    if (isUnspecified && (this.#isRequest || properties === undefined)) copy.additionalProperties = true;
    if (!isJsonObject(properties)) return { ...copy, ...(required !== undefined && { required }) };
    copy.properties = Object.fromEntries(Object.entries(properties).map(([key, property]) => [key, this.convert(property)]));
    const requiredKeys = Array.isArray(required) ? required.filter((key) => !hasDefault(properties[key])) : [];
    return requiredKeys.length === 0 ? copy : { ...copy, required: requiredKeys };
  }
}

/** Returns whether the schema is named. No JSON Schema has both keywords. */
function isNamed(schema: object): schema is NamedSchema {
  return 'name' in schema && 'schema' in schema;
}

function appendDefault(description: unknown, defaultValue: unknown): string {
  const sentence = `Default: \`${JSON.stringify(defaultValue)}\`.`;
  return typeof description === 'string' ? `${description} ${sentence}` : sentence;
}
