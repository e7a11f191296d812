import { expect, it, vi } from 'vitest';
import { systemClock } from '#base/time/clock.ts';
import type { Configuration } from '#contract/configuration/configuration.ts';
import type { KeyStore, StoredKey } from '#domain/callers/key-store.ts';
import { createUserKey } from '#domain/callers/user-key-form.ts';
import { UserKeys } from './user-keys.ts';

const { key, ...made } = createUserKey('k'.repeat(43));
const stored: StoredKey = {
  ...{ id: 'one', owner: 'ada', project: 'corporate', roles: ['maker'], signedInAtMs: 1, name: '', ...made },
  ...{ version: 1, former: null, deployments: null, allowedIps: null },
  ...{ createdAtMs: 1, expiresAtMs: Number.MAX_SAFE_INTEGER, lastUsedAtMs: null },
};
const from = { socket: {}, headers: {} };
const held = { userKey: { id: 'one', version: 1, deployments: null } };

/** Returns the keys of a node whose store can be made to fail. */
function openKeys() {
  const there = { keys: [stored] as StoredKey[], revision: 1, failing: 0 };
  const store = {
    changes: async (since: number) => {
      if (there.failing > 0) {
        there.failing -= 1;
        throw new Error('away');
      }
      const isNew = since !== there.revision;
      return { revision: there.revision, keys: isNew ? there.keys : [], deleted: there.keys.length === 0 ? ['one'] : [] };
    },
    recordUses: async () => undefined,
  } as Partial<KeyStore> as KeyStore;
  const roles = { maker: { selfService: { keys: 1, maxDays: 1 } } };
  const configuration = { roles, identityProviders: { corporate: {} } } as unknown as Configuration;
  const inForce = { configuration };
  const keys = new UserKeys({
    store,
    isShared: false,
    snapshot: () => inForce,
    clock: systemClock,
    reportError: () => undefined,
  });
  return { keys, there, inForce };
}

it('UserKeys rejects a deleted key as soon as the store can be read again', async () => {
  const { keys, there } = openKeys();
  expect(await keys.find(key, from)).toMatchObject({ subject: 'ada' });
  there.failing = 1;
  await keys.write(async () => {
    Object.assign(there, { keys: [], revision: 2 });
  });
  await vi.waitFor(() => expect(keys.find(key, from)).rejects.toMatchObject({ code: 'invalid_api_key' }), { timeout: 5_000 });
  await keys.close();
});

it('UserKeys ends calls of a key if no role allows keys, even on a node that has read none', async () => {
  const { keys, inForce } = openKeys();
  expect([keys.hasEnded({}), keys.hasEnded(held)]).toEqual([false, false]);
  inForce.configuration = { ...inForce.configuration, roles: {} };
  expect([keys.hasEnded({}), keys.hasEnded(held)]).toEqual([false, true]);
  await keys.close();
});
