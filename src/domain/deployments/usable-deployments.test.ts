import { expect, it } from 'vitest';
import type { Catalog } from './catalog.ts';
import type { ConfigSnapshot } from './config-snapshot.ts';
import type { Deployment } from './deployment.ts';
import { findUsable, listUsable } from './usable-deployments.ts';

const deployments = [
  { id: 'open', type: 'chat', userRoles: null, users: null, ownership: null },
  { id: 'vectors', type: 'embedding', userRoles: null, users: null, ownership: null },
  { id: 'closed', type: 'chat', userRoles: ['staff'], users: null, ownership: null },
] as unknown as Deployment[];

const lookup = {
  catalog: {
    find: (_snapshot: unknown, id: string) => deployments.find((each) => each.id === id),
    list: () => Promise.resolve(deployments),
  } as unknown as Catalog,
  snapshot: { limits: { findDenying: () => undefined } } as unknown as ConfigSnapshot,
  caller: { subject: 'ada', project: 'p', roles: ['default'], chain: null },
};
const isChat = ({ type }: Deployment) => type === 'chat';

it('findUsable() returns a deployment that the caller may use', async () => {
  expect(await findUsable(lookup, 'open')).toMatchObject({ id: 'open' });
});

it.each([
  ['nope', 'deployment_not_found', 'There is no deployment nope. GET /v1/models lists yours.'],
  ['x'.repeat(1000), 'deployment_not_found', `There is no deployment ${'x'.repeat(200)}. GET /v1/models lists yours.`],
  [undefined, 'deployment_not_found', 'The path does not contain a valid deployment ID. GET /v1/models lists yours.'],
  ['vectors', 'deployment_not_found', 'There is no deployment vectors. GET /v1/models lists yours.'],
  ['closed', 'access_denied', 'Your roles do not give access to "closed". Ask the operator of this service for access.'],
])('findUsable() rejects %s with %s', async (id, code, message) => {
  await expect(findUsable(lookup, id, isChat)).rejects.toMatchObject({ code, message });
});

it('listUsable() lists the matching deployments that the caller may use', async () => {
  expect((await listUsable(lookup, isChat)).map(({ id }) => id)).toEqual(['open']);
});
