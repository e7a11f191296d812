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
    const original = originals.get(getName(operation)) ?? operation;
    originals.set(getName(operation), original);
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
  const body = operation.body?.map(({ examples: _examples, ...content }) => content);
  const alias = `Alias of \`${original.method.toUpperCase()} ${original.path}\`.`;
  const isSame = operation.description === original.description;
  const description = isSame || operation.description === undefined ? alias : `${alias} ${operation.description}`;
  return { ...operation, description, ...(body && { body }) };
}

function getName({ tag, summary }: ApiOperation): string {
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
      requestBody: { required: !isBodyOptional, content: toContent(body, (schema) => components.showSent(schema)) },
    }),
    responses: toResponses(operation, components),
    security: toSecurity(operation),
  };
}

function toParameter({ schema, ...parameter }: Parameter, components: SchemaComponents): Document {
  return { ...parameter, ...(schema && { schema: components.show(schema) }) };
}

/** Returns the alternatives. One of them is sufficient. */
function toSecurity({ isOpen, acceptsXApiKey }: ApiOperation): Document[] {
  if (isOpen) return [];
  return [{ apiKey: [] }, ...(acceptsXApiKey ? [{ xApiKey: [] }] : []), { bearer: [] }];
}

function toResponses(operation: ApiOperation, components: SchemaComponents): Document {
  const show = (schema: Content['schema']): unknown => components.show(schema);
  const { method, responses: successes, errors = [], errorShape = compatErrorShape, isOpen } = operation;
  const codes = byStatus(isOpen ? errors : [...errors, 'internal_error']);
  const responses: Document = {};
  for (const { status, description, content } of successes) {
    const lines = [description, ...(status === 'default' ? [] : (codes.get(status) ?? [])).map(errorShape.describe)];
    responses[status] = { description: toText(lines), ...(content && { content: toContent(content, show) }) };
    if (status !== 'default') codes.delete(status);
  }
  const errorContent = method !== 'head' && {
    content: toContent([{ type: errorShape.mediaType ?? 'application/json', schema: errorShape.body }], show),
  };
  for (const [status, conditions] of codes) {
    responses[status] = { description: toText(conditions.map(errorShape.describe)), ...errorContent };
  }
  return responses;
}

function toText(lines: readonly string[]): string {
  return [...new Set(lines)].join('\n\n');
}

function byStatus(codes: readonly ErrorCode[]): Map<number, ErrorCode[]> {
  const grouped = new Map<number, ErrorCode[]>();
  for (const code of new Set(codes)) {
    const { status } = errorKinds[code];
    grouped.set(status, [...(grouped.get(status) ?? []), code]);
  }
  return grouped;
}

function toContent(content: readonly Content[], show: (schema: Content['schema']) => unknown): Document {
  return Object.fromEntries(
    content.map(({ type, schema, examples }) => [type, { schema: show(schema), ...(examples && { examples }) }]),
  );
}

/** Keywords whose value is a schema or a list of schemas. */
const nested = ['items', 'additionalProperties', 'propertyNames', 'anyOf', 'oneOf', 'allOf', 'not'];

/** Schemas of a document. A named schema is defined once and referenced elsewhere. */
class SchemaComponents {
  readonly #byName: Record<string, unknown> = {};
  #isSent = false;

  /** Named schemas. Complete after the last call to `show` or `showSent`. */
  get byName(): Readonly<Record<string, unknown>> {
    return this.#byName;
  }

  /** Returns the document's version of a response schema. */
  show(schema: Schema | NamedSchema): unknown {
    return this.#show(schema);
  }

  /**
   * Returns the document's version of a request schema. Allows additional fields explicitly, because client generators would
   * reject them otherwise.
   */
  showSent(schema: Schema | NamedSchema): unknown {
    this.#isSent = true;
    const visibleSchema = this.#show(schema);
    this.#isSent = false;
    return visibleSchema;
  }

  #show(schema: unknown): unknown {
    if (Array.isArray(schema)) return schema.map((item) => this.#show(item));
    if (!isJsonObject(schema)) return schema;
    return isNamed(schema) ? this.#refer(schema) : this.#copy(schema);
  }

  #refer({ name, schema }: NamedSchema): JsonObject {
    this.#byName[name] ??= this.#show(schema);
    return { $ref: `#/components/schemas/${name}` };
  }

  /**
   * Copies a schema. Moves a default to the description and makes its property optional, because client generators require
   * properties with `default`. Removes the validation message, which is not a JSON Schema keyword. Keeps `writeOnly` only in
   * requests, because responses may contain a masked secret.
   */
  #copy({ errorMessage: _errorMessage, default: byDefault, required, properties, writeOnly, ...plain }: JsonObject): JsonObject {
    const copy: JsonObject = { ...plain, ...(this.#isSent && writeOnly !== undefined && { writeOnly }) };
    for (const key of nested) if (key in plain) copy[key] = this.#show(plain[key]);
    if (byDefault !== undefined) copy.description = withDefault(plain.description, byDefault);
    const isWithoutBound = copy.type === 'object' && copy.additionalProperties === undefined;
    if (isWithoutBound && (this.#isSent || properties === undefined)) copy.additionalProperties = true;
    if (!isJsonObject(properties)) return { ...copy, ...(required !== undefined && { required }) };
    copy.properties = Object.fromEntries(Object.entries(properties).map(([key, property]) => [key, this.#show(property)]));
    const needed = Array.isArray(required) ? required.filter((key) => !hasDefault(properties[key])) : [];
    return needed.length === 0 ? copy : { ...copy, required: needed };
  }
}

/** Returns whether the schema is named. No JSON Schema has both keywords. */
function isNamed(schema: object): schema is NamedSchema {
  return 'name' in schema && 'schema' in schema;
}

function withDefault(description: unknown, byDefault: unknown): string {
  const sentence = `Default: \`${JSON.stringify(byDefault)}\`.`;
  return typeof description === 'string' ? `${description} ${sentence}` : sentence;
}
