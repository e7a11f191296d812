import { Seal } from '#base/secrets/seal.ts';
import { Secret } from '#base/secrets/secret.ts';
import type { ApplicationStore } from '#domain/deployments/application-store.ts';
import type { FileIndex } from '#domain/files/file-index.ts';
import { SqlApplicationStore } from '#stores/sql/applications/application-store.ts';
import { SqlBlockedUserStore } from '#stores/sql/callers/blocked-user-store.ts';
import { SqlKeyStore } from '#stores/sql/callers/key-store.ts';
import { SqlPeopleStore } from '#stores/sql/callers/people-store.ts';
import type { OpenDatabase, SqlDatabase } from '#stores/sql/engine/sql-database.ts';
import { SqlFileIndex } from '#stores/sql/files/file-index.ts';
import { openPostgres } from './start-postgres.ts';
import type { ServiceOptions } from './start-service.ts';

export type { OpenDatabase };

/** Creates the tables in a PostgreSQL database, as the first node does. */
export async function createTables(url: string): Promise<void> {
  await (await openPostgres(url)).close();
}

export function createApplicationStore(database: SqlDatabase): ApplicationStore {
  return new SqlApplicationStore(database, new Seal([new Secret('a secret of this test')]));
}

export function createFileIndex(database: SqlDatabase): FileIndex {
  return new SqlFileIndex(database);
}

/** Creates the stores of user keys, of blocked users, and of the people who have signed in. */
export function createKeyStores(
  database: SqlDatabase,
): Pick<NonNullable<ServiceOptions['keys']>, 'store' | 'blockedUsers' | 'people'> {
  const people = new SqlPeopleStore(database);
  return { store: new SqlKeyStore(database), blockedUsers: new SqlBlockedUserStore(database), people };
}
