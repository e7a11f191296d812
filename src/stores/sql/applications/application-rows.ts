import { type Kysely, type SelectQueryBuilder, sql } from 'kysely';
import { splitIntoBatches } from '#base/stream/batches.ts';
import { isStorableKey } from '#base/text/storable-key.ts';
import type { Caller } from '#domain/callers/caller.ts';
import type { ApplicationVersion, SharedQuery } from '#domain/deployments/application-store.ts';
import { isMet, type WriteCondition } from '#domain/files/write-condition.ts';
import type { ApplicationRow, Schema } from '../schema.ts';

/** Columns that reads return. */
export type ReadRow = Omit<ApplicationRow, 'version' | 'roles_etag'>;
/** Columns that a write sets. The database sets the version. */
export type WrittenRow = Omit<ApplicationRow, 'version'>;
export type EtagRow = Pick<ApplicationRow, 'id' | 'etag'>;
/** Fields that a write does not change. */
type UnchangedFields = Pick<ApplicationRow, 'owner' | 'spelling' | 'created_at_ms'>;

const rowsPerStatement = 100;
/** Maximum number of IDs in one query. An application has at most `fieldBounds.maxItems` references, each in up to two spellings. */
const idsPerQuery = 1000;
const columns = ['id', 'owner', 'spelling', 'etag', 'created_at_ms', 'updated_at_ms'] as const;
const readColumns = [...columns, 'sealed_entry'] as const;

/** Finds one application. Its entry is null if its ETag equals `knownEtag`. */
export function findRow(
  kysely: Kysely<Schema>,
  id: string,
  knownEtag: string | undefined,
): Promise<(Omit<ReadRow, 'sealed_entry'> & { readonly sealed_entry: string | null }) | undefined> {
  const entryIfNew = sql<string | null>`case when etag = ${knownEtag ?? ''} then null else sealed_entry end`;
  return kysely
    .selectFrom('applications')
    .select(columns)
    .select(entryIfNew.as('sealed_entry'))
    .where('id', '=', id)
    .executeTakeFirst();
}

/** Returns several applications in no particular order. */
export async function findRows(kysely: Kysely<Schema>, ids: readonly string[]): Promise<readonly ReadRow[]> {
  const rows = await Array.fromAsync(splitIntoBatches(ids, rowsPerStatement), (batch) =>
    kysely.selectFrom('applications').select(readColumns).where('id', 'in', batch).execute(),
  );
  return rows.flat();
}

/** Returns the ETags of several applications in no particular order. */
export async function findEtags(kysely: Kysely<Schema>, ids: readonly string[]): Promise<readonly EtagRow[]> {
  const rows = await Array.fromAsync(splitIntoBatches(ids, idsPerQuery), (batch) =>
    selectEtags(kysely).where('id', 'in', batch).execute(),
  );
  return rows.flat();
}

/** Returns the ETags of the applications that the user owns, or that name the user or one of the user's roles. */
export function findAccessibleEtags(
  kysely: Kysely<Schema>,
  { subject, roles }: Pick<Caller, 'subject' | 'roles'>,
): Promise<readonly EtagRow[]> {
  const storable = roles.filter(isStorableKey);
  const sharedWithUser = kysely.selectFrom('application_users').select('application').where('user_id', '=', subject);
  const sharedWithRoles = kysely.selectFrom('application_roles').select('application').where('role', 'in', storable);
  const etags = selectEtags(kysely)
    .where('owner', '=', subject)
    .union(selectEtags(kysely).where('id', 'in', sharedWithUser));
  const all = storable.length === 0 ? etags : etags.union(selectEtags(kysely).where('id', 'in', sharedWithRoles));
  return all.orderBy('id').execute();
}

/** Returns the ETags of the applications of one owner. */
export function findOwnEtags(kysely: Kysely<Schema>, owner: string): Promise<readonly EtagRow[]> {
  return selectEtags(kysely).where('owner', '=', owner).orderBy('id').execute();
}

/** Returns the ETags of shared applications with IDs greater than `after`. With `user`, only those that name the user. */
export function findSharedEtags(kysely: Kysely<Schema>, { after, limit, user }: SharedQuery): Promise<readonly EtagRow[]> {
  const sharedWithUsers = kysely.selectFrom('application_users').select('application');
  const applicationIds = user === undefined ? sharedWithUsers : sharedWithUsers.where('user_id', '=', user);
  return selectEtags(kysely)
    .where(({ eb, or }) =>
      or([
        eb('id', 'in', applicationIds),
        ...(user === undefined ? [eb('id', 'in', kysely.selectFrom('application_roles').select('application'))] : []),
      ]),
    )
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .execute();
}

function selectEtags(kysely: Kysely<Schema>): SelectQueryBuilder<Schema, 'applications', EtagRow> {
  return kysely.selectFrom('applications').select(['id', 'etag']);
}

/** Returns applications with IDs greater than `after` that an earlier version of Parley wrote without recording their roles. */
export function findRowsWithUnrecordedRoles(kysely: Kysely<Schema>, after: string): Promise<readonly ReadRow[]> {
  return kysely
    .selectFrom('applications')
    .select(readColumns)
    .where(sql<boolean>`roles_etag is distinct from etag`)
    .where('id', '>', after)
    .orderBy('id')
    .limit(rowsPerStatement)
    .execute();
}

/** Writes a row and stores the previous one as a former version. Returns undefined if the condition is not met. */
export async function writeRow(
  transaction: Kysely<Schema>,
  row: WrittenRow,
  condition: WriteCondition,
): Promise<UnchangedFields | undefined> {
  // If another transaction inserts the row in between, the next iteration finds it.
  for (;;) {
    const before = await lockRow(transaction, row.id);
    if (!isMet(condition, before?.etag)) return undefined;
    const stored = await (before === undefined ? insertRow(transaction, row) : replaceRow(transaction, row));
    if (stored !== undefined) return stored;
  }
}

/** Locks the row until the transaction ends. Returns undefined if it does not exist. */
export function lockRow(transaction: Kysely<Schema>, id: string): Promise<Pick<ApplicationRow, 'etag'> | undefined> {
  return transaction
    .updateTable('applications')
    .set(({ ref }) => ({ version: ref('version') }))
    .where('id', '=', id)
    .returning('etag')
    .executeTakeFirst();
}

function insertRow(transaction: Kysely<Schema>, row: WrittenRow): Promise<UnchangedFields | undefined> {
  return transaction
    .insertInto('applications')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .returning(['owner', 'spelling', 'created_at_ms'])
    .executeTakeFirst();
}

async function replaceRow(transaction: Kysely<Schema>, row: WrittenRow): Promise<UnchangedFields | undefined> {
  const { id, owner, spelling, created_at_ms, ...changedFields } = row;
  await storeVersion(transaction, id);
  return transaction
    .updateTable('applications')
    .set(changedFields)
    .set(({ eb }) => ({ version: eb('version', '+', 1) }))
    .where('id', '=', id)
    .returning(['owner', 'spelling', 'created_at_ms'])
    .executeTakeFirst();
}

/** Retention limits per application. The limit that is reached first applies. */
const maxFormerVersions = 50;
const maxChars = 4 * 1024 ** 2;
const highestVersion = 2 ** 31 - 1;

/** Stores the current application as a former version. Deletes the oldest versions if they exceed the retention limits. */
async function storeVersion(transaction: Kysely<Schema>, id: string): Promise<void> {
  await transaction
    .insertInto('application_versions')
    .columns(['application', 'version', 'sealed_entry', 'etag', 'saved_at_ms'])
    .expression(
      transaction
        .selectFrom('applications')
        .select(['id', 'version', 'sealed_entry', 'etag', 'updated_at_ms'])
        .where('id', '=', id),
    )
    .execute();
  const versions = await transaction
    .selectFrom('application_versions')
    .select(({ fn }) => ['version', fn<number>('length', ['sealed_entry']).as('chars')])
    .where('application', '=', id)
    .orderBy('version', 'desc')
    .execute();
  const newestToDrop = findFirstOverLimit(versions)?.version;
  if (newestToDrop === undefined) return;
  await transaction
    .deleteFrom('application_versions')
    .where('application', '=', id)
    .where('version', '<=', newestToDrop)
    .execute();
}

/** Returns the newest version that falls outside the retention limits. `versions` must be sorted from newest to oldest. */
function findFirstOverLimit<Version extends { readonly chars: number }>(versions: readonly Version[]): Version | undefined {
  let chars = 0;
  return versions.find((version, index) => {
    chars += version.chars;
    return index >= maxFormerVersions || chars > maxChars;
  });
}

export async function listVersions(kysely: Kysely<Schema>, id: string): Promise<readonly ApplicationVersion[]> {
  const rows = await kysely
    .selectFrom('applications')
    .select(['version', 'etag', 'updated_at_ms as saved_at_ms'])
    .where('id', '=', id)
    .unionAll(kysely.selectFrom('application_versions').select(['version', 'etag', 'saved_at_ms']).where('application', '=', id))
    .orderBy('version', 'desc')
    .execute();
  return rows.map(({ version, etag, saved_at_ms: savedAtMs }) => ({ version, etag, savedAtMs }));
}

/** Returns the row of an application in one of its versions. */
export async function findVersionRow(kysely: Kysely<Schema>, id: string, version: number): Promise<ReadRow | undefined> {
  if (!Number.isInteger(version) || version < 1 || version > highestVersion) return undefined;
  return kysely
    .selectFrom('applications')
    .select(readColumns)
    .where('id', '=', id)
    .where('version', '=', version)
    .unionAll(
      kysely
        .selectFrom('application_versions as former')
        .innerJoin('applications as now', 'now.id', 'former.application')
        // In the order of `readColumns`.
        .select(['now.id', 'now.owner', 'now.spelling', 'former.etag'])
        .select(['now.created_at_ms', 'former.saved_at_ms as updated_at_ms', 'former.sealed_entry'])
        .where('former.application', '=', id)
        .where('former.version', '=', version),
    )
    .executeTakeFirst();
}
