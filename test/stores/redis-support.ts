import { randomBytes } from 'node:crypto';
import { Secret } from '#base/secrets/secret.ts';
import { systemClock } from '#base/time/clock.ts';
import { RedisPerRequestKeys } from '#stores/redis/per-request-keys.ts';
import { openRedis, type RedisLink } from '#stores/redis/redis-link.ts';

/** Redis objects of a node. */
export interface RedisNode extends AsyncDisposable {
  readonly link: RedisLink;
  readonly keys: RedisPerRequestKeys;
  /** Reported errors with their causes. */
  readonly reportedErrors: readonly string[];
  /** Returns all content of Redis by key: strings, and hashes as objects. */
  readRedis(): Promise<Record<string, unknown>>;
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
  return {
    link,
    keys,
    reportedErrors,
    readRedis: () => readAll(link),
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
