import { validate } from '@scalar/openapi-parser';
import { describe, expect, test } from 'vitest';
import { compatOperations } from '#surfaces/compat/operations.ts';
import { type ApiOperation, json, keyErrors } from '#surfaces/http/operation.ts';
import { listingOperations } from '#surfaces/listings/operations.ts';
import { toOpenApi } from '#surfaces/ops/openapi.ts';
import { opsOperations } from '#surfaces/ops/operations.ts';

const thing = { name: 'Thing', schema: { type: 'object', properties: { a: { type: 'string' } } } };

const operations: ApiOperation[] = [
  ...opsOperations,
  ...compatOperations(['compat', 'openai']),
  ...listingOperations(['compat', 'openai']),
  {
    method: 'post',
    path: '/v1/things',
    id: 'makeThing',
    tag: 'Things',
    summary: 'Makes a thing',
    body: json(thing),
    answers: [{ status: 200, description: 'The thing.', content: json(thing) }],
    errors: [...keyErrors, 'invalid_request'],
  },
];

describe('the OpenAPI document', () => {
  test('is valid and has the version of the API', async () => {
    const document = toOpenApi(operations);
    expect((await validate(document as Record<string, unknown>)).errors ?? []).toEqual([]);
    expect(document.info).toMatchObject({ version: '1.0.0' });
  });

  test('lists the paths of the contract', () => {
    const { paths } = toOpenApi(operations) as { paths: Record<string, Record<string, { operationId: string }>> };
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

  test('has every schema that it refers to', () => {
    const document = toOpenApi(operations) as { components: { schemas: Record<string, unknown> } };
    const named = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name);
    expect(Object.keys(document.components.schemas)).toEqual(expect.arrayContaining(named));
  });

  test('has shared schemas once', () => {
    const text = JSON.stringify(toOpenApi(operations));
    expect(text.split('"$ref":"#/components/schemas/Thing"')).toHaveLength(3);
  });

  test('says the codes of the errors of each status', () => {
    const { paths } = toOpenApi(operations) as {
      paths: Record<string, Record<string, { responses: Record<string, { description: string }> }>>;
    };
    const responses = paths['/v1/things']?.post?.responses;
    expect(Object.keys(responses ?? {})).toEqual(['200', '400', '401', '500']);
    expect(responses?.['401']?.description).toContain('`invalid_api_key`');
  });

  test('asks for no key where none is needed', () => {
    const { paths } = toOpenApi(operations) as { paths: Record<string, Record<string, { security: unknown[] }>> };
    expect(paths['/health']?.get?.security).toEqual([]);
    expect(paths['/v1/things']?.post?.security).toEqual([{ apiKey: [] }, { bearer: [] }]);
  });
});
