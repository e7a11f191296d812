import { randomBytes } from 'node:crypto';
import { Cluster, type Redis } from 'ioredis';
import { Secret } from '#base/secrets/secret.ts';
import { systemClock } from '#base/time/clock.ts';
import { RedisPerRequestKeys } from '#stores/redis/per-request-keys.ts';
import { openRedis, type RedisLink } from '#stores/redis/redis-link.ts';
import { startRedis } from '#test/start-redis.ts';
import { startRedisCluster } from '#test/start-redis-topology.ts';

/** A server or a cluster for the tests of a file. */
export interface RedisServers extends AsyncDisposable {
  readonly url: string;
  stop(): Promise<void>;
  start(): Promise<void>;
}

/** Functions that start Redis, by the name for titles of tests. */
export const redisStarters: [string, () => Promise<RedisServers>][] = [
  ['Redis', () => startRedis()],
  ['a Redis Cluster', () => startRedisCluster({ hasReplicas: false })],
];

/** Redis objects of a node. */
export interface RedisNode extends AsyncDisposable {
  readonly link: RedisLink;
  readonly keys: RedisPerRequestKeys;
  /** Reported errors with their causes. */
  readonly reportedErrors: readonly string[];
  /** Returns all content of Redis by key: strings, and hashes as objects. */
  readRedis(): Promise<Record<string, unknown>>;
  /** Sends commands to each server. */
  sendToAll<Result>(send: (server: Redis) => Promise<Result>): Promise<Result[]>;
}

export interface NodeOptions {
  readonly url: string;
  readonly lifetimeMs?: number;
}

export async function openNode({ url, ...options }: NodeOptions): Promise<RedisNode> {
  const reportedErrors: string[] = [];
  const recordError = (report: string, error: unknown): void => {
    const { message, cause } = error as Error & { readonly cause?: Error };
    reportedErrors.push(`${report}: ${message} (${cause?.message})`);
  };
  const link = await openRedis(new Secret(url), { reportError: recordError, randomBytes });
  const createRandomPart = () => randomBytes(32).toString('base64url');
  const keys = new RedisPerRequestKeys({ link, clock: systemClock, createRandomPart, reportError: recordError, ...options });
  const sendToAll: RedisNode['sendToAll'] = (send) =>
    link.run((redis) => Promise.all((redis instanceof Cluster ? redis.nodes() : [redis]).map(send)));
  return {
    link,
    keys,
    reportedErrors,
    sendToAll,
    readRedis: async () => {
      const names = (await sendToAll((server) => server.keys('*'))).flat();
      const read = (name: string) =>
        link.run<unknown>(async (redis) => ((await redis.type(name)) === 'hash' ? redis.hgetall(name) : redis.get(name)));
      return Object.fromEntries(await Promise.all(names.sort().map(async (name) => [name, await read(name)] as const)));
    },
    [Symbol.asyncDispose]: async () => {
      await keys.close();
      link.close();
    },
  };
}
