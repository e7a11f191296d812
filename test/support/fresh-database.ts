import { randomUUID } from 'node:crypto';
import { queryPostgres } from './query-postgres.ts';
import { sharedServer } from './shared-server.ts';

/** A database of a PostgreSQL. */
export interface TestDatabase extends AsyncDisposable {
  /** `postgres://…` of its superuser. */
  readonly url: string;
}

/** A database that was not there before, and is gone afterwards, on the server that all tests of the run share. */
export async function freshDatabase(): Promise<TestDatabase> {
  const server = await sharedServer('postgres');
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await queryPostgres(server, `create database ${name}`);
  return {
    url: new URL(`/${name}`, server).href,
    [Symbol.asyncDispose]: async () => {
      await queryPostgres(server, `drop database ${name} with (force)`);
    },
  };
}
