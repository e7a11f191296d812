import { randomBytes } from 'node:crypto';
import { startPostgres, type TestPostgres } from '#test/start-postgres.ts';
import { startRedis, type TestRedis } from '#test/start-redis.ts';
import { startS3 } from '#test/start-s3.ts';

/** Stores that nodes share, each on a separate server. */
export interface SharedStores extends AsyncDisposable {
  readonly postgres: TestPostgres;
  readonly redis: TestRedis;
  /** Environment of nodes that use these stores. */
  readonly environment: Readonly<Record<string, string>>;
}

export async function startSharedStores(): Promise<SharedStores> {
  const [postgres, redis, s3] = await Promise.all([startPostgres(), startRedis(), startS3()]);
  return {
    postgres,
    redis,
    environment: {
      PARLEY_DATABASE_URL: postgres.url,
      PARLEY_REDIS_URL: redis.url,
      PARLEY_FILES_URL: s3.filesUrl,
      PARLEY_SECRET: randomBytes(32).toString('base64url'),
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([postgres, redis, s3].map((server) => server[Symbol.asyncDispose]()));
    },
  };
}
