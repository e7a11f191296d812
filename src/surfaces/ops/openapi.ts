import { ErrorBody, type ErrorCode, errorKinds } from '#contract/errors.ts';
import type { ApiOperation, Content, NamedSchema, Schema } from '../http/operation.ts';

type Document = Record<string, unknown>;

/** Of the API, not of the program. */
const apiVersion = '1.0.0';
const errorAnswer: NamedSchema = {
  name: 'Error',
  schema: { type: 'object', required: ['error'], properties: { error: ErrorBody } },
};

/** The description of an HTTP API in OpenAPI 3.1. */
export function toOpenApi(operations: readonly ApiOperation[]): Document {
  const schemas: Record<string, Schema> = {};
  const paths: Record<string, Document> = {};
  for (const operation of operations) {
    const path = paths[operation.path] ?? {};
    path[operation.method] = toOperation(operation, schemas);
    paths[operation.path] = path;
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Parley',
      version: apiVersion,
      description: 'One door before many models and applications: chat completions with stages, attachments, state and consent.',
    },
    servers: [{ url: '/' }],
    tags: [...new Set(operations.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      schemas,
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'Api-Key' },
        bearer: { type: 'http', scheme: 'bearer', description: 'A key, or a token of a configured identity provider.' },
      },
    },
  };
}

function toOperation(operation: ApiOperation, schemas: Record<string, Schema>): Document {
  const { id, tag, summary, description, parameters, body, isOpen } = operation;
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description && { description }),
    ...(parameters && { parameters }),
    ...(body && { requestBody: { required: true, content: toContent(body, schemas) } }),
    responses: toResponses(operation, schemas),
    security: isOpen ? [] : [{ apiKey: [] }, { bearer: [] }],
  };
}

function toResponses({ answers, errors = [], isOpen }: ApiOperation, schemas: Record<string, Schema>): Document {
  const responses: Document = {};
  for (const { status, description, content } of answers) {
    responses[status] = { description, ...(content && { content: toContent(content, schemas) }) };
  }
  const told: readonly ErrorCode[] = isOpen ? errors : [...errors, 'internal_error'];
  for (const [status, codes] of byStatus(told)) {
    if (status in responses) continue;
    const description = codes.map((code) => `\`${code}\`: ${errorKinds[code].says}`).join('\n\n');
    responses[status] = { description, content: toContent([{ type: 'application/json', schema: errorAnswer }], schemas) };
  }
  return responses;
}

function byStatus(codes: readonly ErrorCode[]): Map<number, ErrorCode[]> {
  const grouped = new Map<number, ErrorCode[]>();
  for (const code of new Set(codes)) {
    const { status } = errorKinds[code];
    grouped.set(status, [...(grouped.get(status) ?? []), code]);
  }
  return grouped;
}

function toContent(content: readonly Content[], schemas: Record<string, Schema>): Document {
  return Object.fromEntries(content.map(({ type, schema }) => [type, { schema: toSchema(schema, schemas) }]));
}

function toSchema(schema: Schema | NamedSchema, schemas: Record<string, Schema>): Schema {
  if (!('name' in schema && 'schema' in schema)) return schema;
  schemas[schema.name] = schema.schema;
  return { $ref: `#/components/schemas/${schema.name}` };
}
