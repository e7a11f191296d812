import type { Kysely } from 'kysely';
import type { StoredApplication } from '#domain/deployments/application-store.ts';
import { isStorableKey } from '#domain/deployments/storable-key.ts';
import type { Schema } from './schema.ts';

type Named = Pick<StoredApplication, 'id' | 'entry'>;

const rowsAtOnce = 500;

/** Notes the roles that applications name, in the place of those they named before. */
export async function writeRoles(transaction: Kysely<Schema>, applications: readonly Named[]): Promise<void> {
  await transaction.deleteFrom('application_roles').where('application', 'in', idsOf(applications)).execute();
  const rows = applications.flatMap(({ id, entry: { userRoles = [] } }) =>
    [...new Set(userRoles)].filter(isStorableKey).map((role) => ({ role, application: id })),
  );
  for (let from = 0; from < rows.length; from += rowsAtOnce) {
    await transaction
      .insertInto('application_roles')
      .values(rows.slice(from, from + rowsAtOnce))
      .execute();
  }
}

/** Notes the roles of those applications that are still as they were read. */
export async function noteRoles(transaction: Kysely<Schema>, read: readonly StoredApplication[]): Promise<void> {
  if (read.length === 0) return;
  const locked = await transaction
    .updateTable('applications')
    .set(({ ref }) => ({ version: ref('version') }))
    .where('id', 'in', idsOf(read))
    .returning(['id', 'etag'])
    .execute();
  const etags = new Map(locked.map(({ id, etag }) => [id, etag]));
  const same = read.filter(({ id, etag }) => etags.get(id) === etag);
  if (same.length === 0) return;
  await writeRoles(transaction, same);
  await transaction
    .updateTable('applications')
    .set(({ ref }) => ({ roles_etag: ref('etag') }))
    .where('id', 'in', idsOf(same))
    .execute();
}

function idsOf(applications: readonly Named[]): string[] {
  return applications.map(({ id }) => id);
}
