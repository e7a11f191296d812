import { randomUUID } from 'node:crypto';
import { queryPostgres } from './query-postgres.ts';
import { getSharedServer } from './shared-server.ts';

/** A PostgreSQL database for tests. */
export interface TestDatabase extends AsyncDisposable {
  /** `postgres://…` URL of its superuser. */
  readonly url: string;
}

/** Creates a database on the shared server of the run. Disposal drops it. */
export async function createFreshDatabase(): Promise<TestDatabase> {
  const server = await getSharedServer('postgres');
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await queryPostgres(server, `create database ${name}`);
  return {
    url: new URL(`/${name}`, server).href,
    [Symbol.asyncDispose]: async () => {
      await queryPostgres(server, `drop database ${name} with (force)`);
    },
  };
}
