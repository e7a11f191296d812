import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService, withKey } from '#test/start-service.ts';

let service: TestService;

beforeAll(async () => {
  service = await startService({ keys: { 'caller-key': { project: 'test' }, other: { project: 'other' } } });
});

afterAll(() => service.close());

const lines = (count: number, line: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => line(index)).join('\n');
const keys = lines(20_000, (index) => `k${index}: ${index}`);
const aliases = `a: &a 1\n${lines(10_000, (index) => `k${index}: *a`)}`;

describe('an OpenAPI document', () => {
  it.each([
    ['keys', keys],
    ['aliases', aliases],
  ])('with thousands of %s does not delay other requests', async (_description, document) => {
    const order: string[] = [];
    const importing = service
      .sendRequest({ path: '/v1/import-openapi', headers: withKey(), body: { document } })
      .then(({ status }) => {
        order.push('import');
        return status;
      });
    for (let index = 0; index < 5; index += 1) {
      expect((await service.sendRequest({ method: 'GET', path: '/v1/models', headers: withKey('other') })).status).toBe(200);
      order.push('other');
    }
    expect(await importing).toBe(400);
    expect(order).toEqual([...Array(5).fill('other'), 'import']);
  });

  it('waits for other imports of its user, and only a limited number can be in progress', async () => {
    // The first import ends after the last request has arrived.
    const requests = Array.from({ length: 12 }, (_, index) =>
      service.sendRequest({
        path: '/v1/import-openapi',
        headers: withKey(),
        body: { document: index === 0 ? keys : 'a: 1' },
      }),
    );
    const otherUserResponse = await service.sendRequest({
      path: '/v1/import-openapi',
      headers: withKey('other'),
      body: { document: { openapi: '3.1.0', info: { title: 'Shop', version: '1' }, paths: {} } },
    });
    expect(otherUserResponse.status).toBe(200);
    const statuses = (await Promise.all(requests)).map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array(9).fill(400), ...Array(3).fill(503)]);
  });
});
