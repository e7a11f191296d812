import { afterAll, beforeAll, expect, it } from 'vitest';
import { startService, type TestService } from '#test/start-service.ts';

let service: TestService;

beforeAll(async () => {
  service = await startService({
    prompts: {
      'Weekly report': { content: 'Write a report about {{topic}}.' },
      'Reply to a complaint': { content: 'Answer politely.', userRoles: ['support'] },
      Retired: { content: 'canary', userRoles: [] },
    },
    roles: { support: {} },
    keys: {
      one: { project: 'p', key: 'plain-key-0123456789' },
      two: { project: 'q', key: 'support-key-0123456789', role: 'support' },
      three: { project: 'r', key: 'bound-key-0123456789', deployments: ['demo'] },
    },
  });
});

afterAll(() => service[Symbol.asyncDispose]());

const read = (key: string) =>
  service.sendRequest({ method: 'GET', path: '/v1/prompt-library', headers: { authorization: `Bearer ${key}` } });

it('GET /v1/prompt-library returns the prompts of the roles of the caller, in the order of the configuration', async () => {
  const forAll = { name: 'Weekly report', content: 'Write a report about {{topic}}.' };
  expect((await read('plain-key-0123456789')).json).toEqual({ object: 'list', data: [forAll] });
  const forSupport = { name: 'Reply to a complaint', content: 'Answer politely.' };
  expect((await read('support-key-0123456789')).json).toEqual({ object: 'list', data: [forAll, forSupport] });
});

it('GET /v1/prompt-library rejects keys that are bound to deployments, and requests without a key', async () => {
  expect((await read('bound-key-0123456789')).status).toBe(403);
  expect((await service.sendRequest({ method: 'GET', path: '/v1/prompt-library' })).status).toBe(401);
});
