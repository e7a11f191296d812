import { validate } from '@scalar/openapi-parser';
import { expect, it } from 'vitest';
import { listApiOperations } from '#app/service/features.ts';
import { toOpenApi } from '../ops/openapi-document.ts';
import { applicationOperations } from './openapi.ts';

it('documents every method of the application endpoints in a valid OpenAPI document', async () => {
  const document = toOpenApi(applicationOperations, '1.2.3');
  expect((await validate(JSON.parse(JSON.stringify(document)) as Record<string, unknown>)).errors ?? []).toEqual([]);
  expect(listApiOperations({ aliases: { compat: [], msgapi: [] } })).toEqual(expect.arrayContaining([...applicationOperations]));
  const { paths } = document as { paths: Record<string, Record<string, { responses: Record<string, unknown> }>> };
  const toldAt = (path: string) =>
    Object.entries(paths[path] ?? {}).map(([method, { responses }]) => [method, Object.keys(responses).join()]);
  expect(toldAt('/v1/applications/{bucket}/{path}')).toEqual([
    ['get', '200,304,400,401,403,404,412,429,500,503'],
    ['put', '200,201,400,401,403,404,412,413,415,429,500,503'],
    ['delete', '204,400,401,403,404,412,429,500,503'],
  ]);
  expect(toldAt('/v1/versions/applications/{bucket}/{path}')).toEqual([
    ['get', '200,400,401,403,404,429,500,503'],
    ['post', '200,400,401,403,404,412,429,500,503'],
  ]);
});
