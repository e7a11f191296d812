import { expect, it, vi } from 'vitest';
import { systemClock } from '#base/time/clock.ts';
import type { Configuration } from '#contract/configuration/configuration.ts';
import { createUserKey } from '#domain/callers/key-form.ts';
import type { KeyStore, StoredKey } from '#domain/callers/key-store.ts';
import { UserKeys } from './user-keys.ts';

const { key, ...generatedKey } = createUserKey('k'.repeat(43));
const stored: StoredKey = {
  ...{ id: 'one', owner: 'ada', project: 'corporate', roles: ['maker'], signedInAtMs: 1, name: '', ...generatedKey },
  ...{ version: 1, former: null, deployments: null, allowedIps: null },
  ...{ createdAtMs: 1, expiresAtMs: Number.MAX_SAFE_INTEGER, lastUsedAtMs: null },
};
const origin = { socket: {}, headers: {} };
const keyCaller = { userKey: { id: 'one', version: 1, deployments: null } };

/** Returns the keys of a node whose store can be made to fail. */
function openKeys() {
  const storeState = { keys: [stored] as StoredKey[], revision: 1, failing: 0 };
  const store = {
    readUpdates: async (since: number) => {
      if (storeState.failing > 0) {
        storeState.failing -= 1;
        throw new Error('unavailable');
      }
      const isNew = since !== storeState.revision;
      return {
        revision: storeState.revision,
        keys: isNew ? storeState.keys : [],
        deleted: storeState.keys.length === 0 ? ['one'] : [],
      };
    },
    recordUses: async () => undefined,
  } as Partial<KeyStore> as KeyStore;
  const roles = { maker: { selfService: { keys: 1, maxDays: 1 } } };
  const configuration = { roles, identityProviders: { corporate: {} } } as unknown as Configuration;
  const current = { configuration };
  const keys = new UserKeys({
    store,
    isShared: false,
    snapshot: () => current,
    clock: systemClock,
    reportError: () => undefined,
  });
  return { keys, storeState, current };
}

it('UserKeys rejects a deleted key as soon as the store can be read again', async () => {
  const { keys, storeState } = openKeys();
  expect(await keys.find(key, origin)).toMatchObject({ subject: 'ada' });
  storeState.failing = 1;
  await keys.write(async () => {
    Object.assign(storeState, { keys: [], revision: 2 });
  });
  await vi.waitFor(() => expect(keys.find(key, origin)).rejects.toMatchObject({ code: 'invalid_api_key' }), { timeout: 5_000 });
  await keys.close();
});

it('UserKeys ends calls of a key if no role allows keys, even on a node that has not read any keys', async () => {
  const { keys, current } = openKeys();
  expect([keys.hasInvalidKey({}), keys.hasInvalidKey(keyCaller)]).toEqual([false, false]);
  current.configuration = { ...current.configuration, roles: {} };
  expect([keys.hasInvalidKey({}), keys.hasInvalidKey(keyCaller)]).toEqual([false, true]);
  await keys.close();
});
