import fastify from 'fastify';
import { expect, it } from 'vitest';
import { createStoreError } from '#test/store-error.ts';
import { listingRoutes } from './routes.ts';

type Deps = Parameters<typeof listingRoutes>[1];

/** Lists an application that Eve shared with Ada, for Ada. The directory of people fails with the error. */
async function list(error: Error) {
  const ownership = { owner: 'eve', createdAtMs: 0, updatedAtMs: 0 };
  const shared = { id: 'notes', kind: 'application', type: 'chat', upstreams: [], features: {}, users: ['ada'], ownership };
  const app = fastify();
  listingRoutes(app, {
    identify: async () => ({ subject: 'ada', roles: [], chain: null }),
    snapshot: () => ({ limits: { findDenying: () => undefined } }),
    catalog: { list: async () => [shared] },
    prefixes: ['openai'],
    modelPaths: [],
    createdSeconds: 0,
    people: { find: () => Promise.reject(error) },
  } as unknown as Deps);
  return app.inject({ url: '/openai/deployments', headers: { 'api-key': 'key' } });
}

it('omits the names of owners if the store of the directory fails', async () => {
  const response = await list(createStoreError('down'));
  expect(response.statusCode).toBe(200);
  expect(response.json().data).toEqual([expect.objectContaining({ id: 'notes' })]);
  expect(response.json().data[0]).not.toHaveProperty('owner_name');
});

it('fails if the directory fails with another error', async () => {
  const response = await list(new TypeError('ids is not iterable'));
  expect([response.statusCode, response.json().message]).toEqual([500, 'ids is not iterable']);
});
