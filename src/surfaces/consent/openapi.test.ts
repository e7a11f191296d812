import { validate } from '@scalar/openapi-parser';
import { expect, it } from 'vitest';
import { listApiOperations } from '#app/service/features.ts';
import { toOpenApi } from '../ops/openapi-document.ts';
import { consentOperations } from './openapi.ts';

it('documents every method of the consent endpoints in a valid OpenAPI document', async () => {
  const document = toOpenApi(consentOperations, '1.2.3');
  expect((await validate(document as Record<string, unknown>)).errors ?? []).toEqual([]);
  expect(listApiOperations({ aliases: { compat: [], msgapi: [] } })).toEqual(expect.arrayContaining([...consentOperations]));
  const { paths } = document as { paths: Record<string, Record<string, { responses: Record<string, unknown> }>> };
  expect(Object.keys(paths['/v1/consent'] ?? {})).toEqual(['get']);
  const methods = paths['/v1/consent/{id}'] ?? {};
  expect(Object.entries(methods).map(([method, { responses }]) => [method, Object.keys(responses).join()])).toEqual([
    ['get', '200,400,401,403,404,429,500,503'],
    ['post', '200,400,401,403,404,409,413,415,429,500,503'],
    ['delete', '204,400,401,403,404,429,500,503'],
  ]);
});
