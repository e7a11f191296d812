import { randomBytes } from 'node:crypto';
import { Secret } from '#base/secrets/secret.ts';
import { RedisNodeBroadcast } from '#stores/redis/node-broadcast.ts';
import { openRedis } from '#stores/redis/redis-link.ts';
import type { ServiceOptions } from './start-service.ts';

interface OpenBroadcast {
  readonly broadcast: NonNullable<ServiceOptions['broadcast']>;
  /** Returns the answer of `PUBSUB NUMSUB` for the channel of the broadcast. */
  countSubscribers(): Promise<unknown>;
  close(): void;
}

/** Connects a node to the broadcast of a Redis. */
export async function openBroadcast(url: string): Promise<OpenBroadcast> {
  const link = await openRedis(new Secret(url), { reportError: () => undefined, randomBytes });
  return {
    broadcast: new RedisNodeBroadcast(link),
    countSubscribers: () => link.run((redis) => redis.call('PUBSUB', 'NUMSUB', 'parley:notices:passing')),
    close: () => link.close(),
  };
}
