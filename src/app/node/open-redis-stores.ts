import { randomBytes } from 'node:crypto';
import { createRandomSecret } from '#base/secrets/seal.ts';
import type { Secret } from '#base/secrets/secret.ts';
import { RedisLimitStore } from '#stores/redis/limit-store.ts';
import { RedisNodeBroadcast } from '#stores/redis/node-broadcast.ts';
import { RedisPerRequestKeys } from '#stores/redis/per-request-keys.ts';
import { openRedis } from '#stores/redis/redis-link.ts';
import type { Closeable, EphemeralStores, StoreDeps } from './stores.ts';

/** Opens the stores for data that lives as long as a call or a limit window, in the Redis that nodes share. */
export async function openRedisStores(url: Secret, { clock, reportError }: StoreDeps): Promise<Closeable<EphemeralStores>> {
  const link = await openRedis(url, { reportError, randomBytes });
  const perRequestKeys = new RedisPerRequestKeys({ link, clock, createRandomPart: createRandomSecret, reportError });
  const limits = new RedisLimitStore(link, clock);
  return {
    perRequestKeys,
    limits,
    broadcast: new RedisNodeBroadcast(link),
    shared: [{ name: 'redis', isUnavailable: () => link.isUnavailable, wasReached: () => link.wasReached }],
    async close() {
      limits.close();
      await perRequestKeys.close();
      link.close();
    },
  };
}
