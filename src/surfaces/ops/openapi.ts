import { type ErrorCode, errorKinds } from '#contract/errors.ts';
import { type ApiOperation, type Content, chapters, json, type Parameter } from '../http/operation.ts';
import { compatErrorShape } from '../http/operation-errors.ts';
import { SchemaComponents } from './schema-components.ts';

type Document = Record<string, unknown>;

const info = {
  title: 'Parley API',
  description: 'A gateway before models and applications: chat completions with stages, attachments, state and consent.',
  license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
};

const securitySchemes = {
  apiKey: { type: 'apiKey', in: 'header', name: 'Api-Key' },
  xApiKey: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'What stock clients of the Anthropic API send.' },
  bearer: { type: 'http', scheme: 'bearer', description: 'A key, or a token of a configured identity provider.' },
};

/** The description of an HTTP API in OpenAPI 3.1; `version` is that of the program. */
export function toOpenApi(operations: readonly ApiOperation[], version: string): Document {
  const components = new SchemaComponents();
  const paths: Record<string, Document> = {};
  const originals = new Map<string, ApiOperation>();
  for (const operation of operations) {
    const { path, method, summary } = operation;
    const original = originals.get(nameOf(operation)) ?? operation;
    originals.set(nameOf(operation), original);
    const shown = original === operation ? operation : toAlias(operation, original);
    const name = original === operation ? summary : `${summary} (${path})`;
    paths[path] = { ...paths[path], [method]: { ...toOperation(shown, components), summary: name } };
  }
  const used = new Set<string>(operations.map(({ tag }) => tag));
  const tags = Object.entries(chapters).filter(([name]) => used.has(name));
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

function nameOf({ tag, summary }: ApiOperation): string {
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

/** Any one of them is enough. */
function toSecurity({ isOpen, takesXApiKey }: ApiOperation): Document[] {
  if (isOpen) return [];
  return [{ apiKey: [] }, ...(takesXApiKey ? [{ xApiKey: [] }] : []), { bearer: [] }];
}

function toResponses(operation: ApiOperation, components: SchemaComponents): Document {
  const show = (schema: Content['schema']): unknown => components.show(schema);
  const { method, answers, errors = [], errorShape = compatErrorShape, isOpen } = operation;
  const codes = byStatus(isOpen ? errors : [...errors, 'internal_error']);
  const responses: Document = {};
  for (const { status, description, content } of answers) {
    const lines = [description, ...(status === 'default' ? [] : (codes.get(status) ?? [])).map(errorShape.describe)];
    responses[status] = { description: toText(lines), ...(content && { content: toContent(content, show) }) };
    if (status !== 'default') codes.delete(status);
  }
  const errorContent = method !== 'head' && { content: toContent(json(errorShape.body), show) };
  for (const [status, told] of codes) {
    responses[status] = { description: toText(told.map(errorShape.describe)), ...errorContent };
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
