import { randomBytes } from 'node:crypto';
import { Secret } from '#base/secrets/secret.ts';
import { systemClock } from '#base/time/clock.ts';
import { RedisPerRequestKeys } from '#stores/redis/per-request-keys.ts';
import { openRedis, type RedisLink } from '#stores/redis/redis-link.ts';

/** What a node has of a Redis. */
export interface RedisNode extends AsyncDisposable {
  readonly link: RedisLink;
  readonly keys: RedisPerRequestKeys;
  /** What was noted, with its cause. */
  readonly noted: readonly string[];
  /** All that Redis holds, by key: strings as they are, hashes as objects. */
  inRedis(): Promise<Record<string, unknown>>;
}

export interface NodeOptions {
  readonly url: string;
  readonly lifetimeMs?: number;
}

export async function openNode({ url, ...options }: NodeOptions): Promise<RedisNode> {
  const noted: string[] = [];
  const noteFault = (message: string, thrown: unknown): void => {
    const { message: words, cause } = thrown as Error & { readonly cause?: Error };
    noted.push(`${message}: ${words} (${cause?.message})`);
  };
  const link = await openRedis(new Secret(url), { reportError: noteFault, randomBytes });
  const newKey = () => randomBytes(32).toString('base64url');
  const keys = new RedisPerRequestKeys({ link, clock: systemClock, newKey, reportError: noteFault, ...options });
  return {
    link,
    keys,
    noted,
    inRedis: () => readAll(link),
    [Symbol.asyncDispose]: async () => {
      await keys.close();
      link.close();
    },
  };
}

async function readAll(link: RedisLink): Promise<Record<string, unknown>> {
  const names = await link.run((redis) => redis.keys('*'));
  const read = (name: string) =>
    link.run<unknown>(async (redis) => ((await redis.type(name)) === 'hash' ? redis.hgetall(name) : redis.get(name)));
  return Object.fromEntries(await Promise.all(names.sort().map(async (name) => [name, await read(name)] as const)));
}
