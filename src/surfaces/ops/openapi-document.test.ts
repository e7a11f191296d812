import { validate } from '@scalar/openapi-parser';
import { describe, expect, test } from 'vitest';
import { listApiOperations } from '#app/service/features.ts';
import { isApiVersion } from '#contract/api-version.ts';
import { chatCompletionOperations } from '../chat-completions/openapi.ts';
import { type ApiOperation, json } from '../http/openapi/operation.ts';
import { keyErrors } from '../http/openapi/operation-errors.ts';
import { listingOperations } from '../listings/openapi.ts';
import { passThroughOperation } from '../passthrough/openapi.ts';
import { buildDeploymentResponseOperation } from '../responses/openapi.ts';
import { opsOperations } from './openapi.ts';
import { toOpenApi } from './openapi-document.ts';

const thing = {
  name: 'Thing',
  schema: {
    type: 'object',
    required: ['a', 'size'],
    properties: {
      a: { type: 'string', errorMessage: 'must be text' },
      size: { type: 'integer', default: 1, description: 'How big.' },
    },
  },
};

type OpenApiDocument = {
  readonly paths: Record<string, Record<string, { security: unknown[]; responses: Record<string, { content?: unknown }> }>>;
  readonly components: { readonly schemas: Record<string, unknown> };
};

/** OpenAPI document of a service without a configuration. */
const fullDocument = JSON.parse(
  JSON.stringify(toOpenApi(listApiOperations({ aliases: { compat: ['openai'], msgapi: ['anthropic'] } }), '1.2.3')),
) as OpenApiDocument;

function buildReference(name: string): object {
  return { 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } };
}

const operations: ApiOperation[] = [
  ...opsOperations,
  ...chatCompletionOperations(['compat', 'openai'], passThroughOperation, buildDeploymentResponseOperation),
  ...listingOperations(['compat', 'openai']),
  {
    method: 'post',
    path: '/v1/things',
    id: 'makeThing',
    tag: 'Applications',
    summary: 'Makes a thing',
    body: json(thing),
    responses: [{ status: 200, description: 'The thing.', content: json(thing) }],
    errors: [...keyErrors, 'invalid_request'],
  },
];

describe('toOpenApi', () => {
  test('creates a valid document with the version of the program', async () => {
    const document = toOpenApi(operations, '1.2.3');
    expect((await validate(document as Record<string, unknown>)).errors ?? []).toEqual([]);
    expect(document.info).toMatchObject({ version: '1.2.3' });
  });

  test('lists the paths of the contract', () => {
    const { paths } = toOpenApi(operations, '1.2.3') as { paths: Record<string, Record<string, { operationId: string }>> };
    expect(Object.keys(paths)).toEqual(
      expect.arrayContaining([
        '/compat/deployments/{id}/chat/completions/{api_version}',
        '/openai/deployments/{id}/chat/completions',
        '/openai/deployments/{id}/embeddings',
        '/v1/chat/completions',
        '/openai/applications/{id}',
        '/v1/models',
      ]),
    );
    const ids = Object.values(paths).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId));
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('describes the fields that OpenAI clients send', () => {
    const { components } = toOpenApi(operations, '1.2.3') as {
      components: { schemas: Record<string, { properties: Record<string, { items?: { properties: object } }> }> };
    };
    for (const name of ['ChatRequest', 'ChatRequestByModel']) {
      const { properties = {} } = components.schemas[name] ?? {};
      expect(Object.keys(properties)).toEqual(
        expect.arrayContaining([
          ...['tools', 'tool_choice', 'parallel_tool_calls', 'response_format', 'stream_options'],
          ...['max_completion_tokens', 'seed', 'reasoning_effort'],
        ]),
      );
      expect(Object.keys(properties.messages?.items?.properties ?? {})).toEqual(
        expect.arrayContaining(['tool_calls', 'tool_call_id']),
      );
    }
  });

  test('describes an operation at /v1 first and its other paths as aliases', () => {
    const { paths } = toOpenApi(operations, '1.2.3') as { paths: Record<string, Record<string, { description: string }>> };
    const names = Object.keys(paths).filter((path) => path.includes('chat/completions'));
    expect(names[0]).toBe('/v1/chat/completions');
    for (const name of names.slice(1))
      expect(paths[name]?.post?.description).toMatch(/^Alias of `POST \/v1\/chat\/completions`\./);
  });

  test('accepts exactly the calendar dates as the API version of a path', () => {
    const { paths } = toOpenApi(operations, '1.2.3') as { paths: Record<string, { post: { parameters: object[] } }> };
    const parameters = paths['/compat/deployments/{id}/chat/completions/{api_version}']?.post.parameters;
    const parameter = parameters?.find((each) => 'name' in each && each.name === 'api_version') as {
      schema: { pattern: string };
    };
    const pattern = new RegExp(parameter.schema.pattern);
    const numbers = (count: number): string[] => Array.from({ length: count }, (_, index) => String(index).padStart(2, '0'));
    for (const year of ['1900', '2000', '2023', '2024', '2100']) {
      for (const month of numbers(14)) {
        const dates = numbers(33).map((day) => `${year}-${month}-${day}`);
        expect(dates.filter((date) => pattern.test(date))).toEqual(dates.filter(isApiVersion));
      }
    }
  });

  test('defines every referenced schema', () => {
    const document = toOpenApi(operations, '1.2.3') as { components: { schemas: Record<string, unknown> } };
    const referencedNames = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name);
    expect(Object.keys(document.components.schemas)).toEqual(expect.arrayContaining(referencedNames));
  });

  test('defines shared schemas once', () => {
    const text = JSON.stringify(toOpenApi(operations, '1.2.3'));
    expect(text.split('"$ref":"#/components/schemas/Thing"')).toHaveLength(3);
  });

  test('lists the error codes of each status', () => {
    const { paths } = toOpenApi(operations, '1.2.3') as {
      paths: Record<string, Record<string, { responses: Record<string, { description: string }> }>>;
    };
    const responses = paths['/v1/things']?.post?.responses;
    expect(Object.keys(responses ?? {})).toEqual(['200', '400', '401', '403', '429', '500', '503']);
    expect(responses?.['401']?.description).toContain('`invalid_api_key`');
  });

  test('requires no key for public operations', () => {
    const { paths } = toOpenApi(operations, '1.2.3') as { paths: Record<string, Record<string, { security: unknown[] }>> };
    expect(paths['/health']?.get?.security).toEqual([]);
    expect(paths['/v1/things']?.post?.security).toEqual([{ apiKey: [] }, { bearer: [] }]);
  });

  test('creates a valid document for all operations', async () => {
    expect((await validate(JSON.parse(JSON.stringify(fullDocument)) as Record<string, unknown>)).errors ?? []).toEqual([]);
  });

  test('describes defaults as text and makes fields with a default optional', () => {
    const document = toOpenApi(operations, '1.2.3') as unknown as OpenApiDocument;
    expect(document.components.schemas.Thing).toEqual({
      type: 'object',
      required: ['a'],
      properties: { a: { type: 'string' }, size: { type: 'integer', description: 'How big. Default: `1`.' } },
      additionalProperties: true,
    });
    expect(JSON.stringify(fullDocument)).not.toMatch(/"(default(?!":\{"description")|errorMessage)":/);
  });

  test('allows additional fields in requests and in objects without properties', () => {
    const schemas = JSON.parse(JSON.stringify(fullDocument.components.schemas)) as Record<
      string,
      { additionalProperties?: unknown }
    >;
    expect(schemas.ChatRequest?.additionalProperties).toBe(true);
    expect(JSON.stringify(schemas.ChatRequest)).toContain('"state":{"type":"object","description"');
    expect(JSON.stringify(schemas)).not.toMatch(/\{"type":"object"(,"description":"[^"]*")?\}/);
    expect(schemas.Completion).not.toHaveProperty('additionalProperties');
  });

  test('contains only string constants, which client generators support', () => {
    expect(JSON.stringify(fullDocument)).not.toMatch(/"const":[^"]/);
  });

  test('lets clients read the message of a response that may be a completion or a chunk', () => {
    const { Completion, Chunk } = fullDocument.components.schemas as Record<string, object>;
    for (const schema of [Completion, Chunk])
      expect(schema).toMatchObject({ properties: { choices: { items: { properties: { message: { type: 'object' } } } } } });
  });

  test('describes the errors of the Messages API, MCP, and SCIM in their own formats, and the rest in the compat dialect', () => {
    const allErrors = Object.entries(fullDocument.paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, { responses }]) =>
        Object.entries(responses)
          .filter(([status]) => Number(status) >= 400 && method !== 'head' && path !== '/ready')
          .map(([status, { content }]) => ({ path, status, content })),
      ),
    );
    const messagesErrors = allErrors.filter(({ path }) => /^\/(msgapi|anthropic)\//.test(path));
    expect(messagesErrors).not.toEqual([]);
    for (const { content } of messagesErrors) expect(content).toEqual(buildReference('MessagesError'));
    const mcpErrors = allErrors.filter(({ path, status }) => path.endsWith('/mcp') && ['400', '404'].includes(status));
    for (const { content } of mcpErrors) expect(JSON.stringify(content)).toMatch(/anyOf.*schemas\/Error".*schemas\/McpError"/);
    expect(mcpErrors).toHaveLength(2);
    const scimErrors = allErrors.filter(({ path }) => path.startsWith('/scim/v2/'));
    for (const { content } of scimErrors) expect(JSON.stringify(content)).toMatch(/scim\+json.*schemas\/ScimError"/);
    const otherErrors = allErrors.filter(
      (error) => ![messagesErrors, mcpErrors, scimErrors].some((errors) => errors.includes(error)),
    );
    for (const { content } of otherErrors) expect(content).toEqual(buildReference('Error'));
  });

  test('requires all fields of a stage in a completion, and only the index in a chunk', () => {
    const { Stage, StageDelta, Completion, Chunk } = fullDocument.components.schemas as Record<string, { required: string[] }>;
    expect(Stage?.required).toEqual(['index', 'name', 'status']);
    expect(StageDelta?.required).toEqual(['index']);
    expect(JSON.stringify(Completion)).toContain('#/components/schemas/Stage"');
    expect(JSON.stringify(Completion)).not.toContain('#/components/schemas/StageDelta"');
    expect(JSON.stringify(Chunk)).toContain('#/components/schemas/StageDelta"');
  });

  test('omits content from errors of HEAD', () => {
    expect(fullDocument.paths['/v1/files/{bucket}/{path}']?.head?.responses['404']).not.toHaveProperty('content');
  });

  test('lists x-api-key only below the aliases of the messages surface', () => {
    const described = Object.entries(fullDocument.paths).filter(([, methods]) => /xApiKey/.test(JSON.stringify(methods)));
    expect(described.map(([path]) => path)).toEqual(
      ['messages', 'messages/count_tokens', 'models', 'models/{id}'].map((path) => `/anthropic/v1/${path}`),
    );
  });
});
