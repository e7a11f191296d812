import { type Kysely, type SelectQueryBuilder, sql } from 'kysely';
import type { Seal } from '#base/secrets/seal.ts';
import { splitIntoBatches } from '#base/stream/batches.ts';
import { isStorableKey } from '#base/text/storable-key.ts';
import type { Caller } from '#domain/callers/caller.ts';
import type { SharedQuery } from '#domain/deployments/application-store.ts';
import { isMet, type WriteCondition } from '#domain/files/write-condition.ts';
import { StoreError } from '#domain/store-error.ts';
import type { ApplicationRow, Schema, SealedRow } from '../schema.ts';
import { storeVersion } from './application-versions.ts';

/** An application as it is written. The database sets its version. */
export type WrittenRow = Omit<ApplicationRow, 'version'>;
export type HeadRow = Pick<ApplicationRow, 'id' | 'etag'>;
/** Fields that a write does not change. */
type UnchangedFields = Pick<ApplicationRow, 'owner' | 'spelling' | 'created_at_ms'>;

const rowsPerStatement = 100;
/** Maximum number of IDs in one query. It exceeds the number of IDs that one application may name, including both spellings. */
const idsPerQuery = 1000;
const columns = ['id', 'owner', 'spelling', 'etag', 'created_at_ms', 'updated_at_ms'] as const;

/** Finds one application. Its entry is null if its ETag equals `knownEtag`. */
export function findRow(
  kysely: Kysely<Schema>,
  id: string,
  knownEtag: string | undefined,
): Promise<(Omit<SealedRow, 'sealed_entry'> & { readonly sealed_entry: string | null }) | undefined> {
  const entryIfNew = sql<string | null>`case when etag = ${knownEtag ?? ''} then null else sealed_entry end`;
  return kysely
    .selectFrom('applications')
    .select(columns)
    .select(entryIfNew.as('sealed_entry'))
    .where('id', '=', id)
    .executeTakeFirst();
}

/** Returns several applications in no particular order. */
export async function findRows(kysely: Kysely<Schema>, ids: readonly string[]): Promise<readonly SealedRow[]> {
  const rows = await Array.fromAsync(splitIntoBatches(ids, rowsPerStatement), (batch) =>
    kysely
      .selectFrom('applications')
      .select([...columns, 'sealed_entry'])
      .where('id', 'in', batch)
      .execute(),
  );
  return rows.flat();
}

/** Returns the ETags of several applications in no particular order. */
export async function findHeads(kysely: Kysely<Schema>, ids: readonly string[]): Promise<readonly HeadRow[]> {
  const rows = await Array.fromAsync(splitIntoBatches(ids, idsPerQuery), (batch) =>
    selectHeads(kysely).where('id', 'in', batch).execute(),
  );
  return rows.flat();
}

/** Returns the ETags of the applications that the user owns or that name the user or one of the roles. Each part uses its own index. */
export function findAccessibleEtags(
  kysely: Kysely<Schema>,
  { subject, roles }: Pick<Caller, 'subject' | 'roles'>,
): Promise<readonly HeadRow[]> {
  const storable = roles.filter(isStorableKey);
  const ofUser = kysely.selectFrom('application_users').select('application').where('user_id', '=', subject);
  const ofRoles = kysely.selectFrom('application_roles').select('application').where('role', 'in', storable);
  const heads = selectHeads(kysely)
    .where('owner', '=', subject)
    .union(selectHeads(kysely).where('id', 'in', ofUser));
  const all = storable.length === 0 ? heads : heads.union(selectHeads(kysely).where('id', 'in', ofRoles));
  return all.orderBy('id').execute();
}

/** Returns the ETags of the applications of one owner. */
export function findOwnEtags(kysely: Kysely<Schema>, owner: string): Promise<readonly HeadRow[]> {
  return selectHeads(kysely).where('owner', '=', owner).orderBy('id').execute();
}

/** Returns the ETags of applications after an ID that name roles or users, or that name one user. */
export function findSharedEtags(kysely: Kysely<Schema>, { after, limit, user }: SharedQuery): Promise<readonly HeadRow[]> {
  const ofUsers = kysely.selectFrom('application_users').select('application');
  const named = user === undefined ? ofUsers : ofUsers.where('user_id', '=', user);
  return selectHeads(kysely)
    .where(({ eb, or }) =>
      or([
        eb('id', 'in', named),
        ...(user === undefined ? [eb('id', 'in', kysely.selectFrom('application_roles').select('application'))] : []),
      ]),
    )
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .execute();
}

function selectHeads(kysely: Kysely<Schema>): SelectQueryBuilder<Schema, 'applications', HeadRow> {
  return kysely.selectFrom('applications').select(['id', 'etag']);
}

/** Returns applications after an ID whose roles are not recorded, because an earlier version of the program wrote them. */
export function findRowsOfUnknownRoles(kysely: Kysely<Schema>, after: string): Promise<readonly SealedRow[]> {
  return kysely
    .selectFrom('applications')
    .select([...columns, 'sealed_entry'])
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
  const { id, owner, spelling, created_at_ms, ...changing } = row;
  await storeVersion(transaction, id);
  return transaction
    .updateTable('applications')
    .set(changing)
    .set(({ eb }) => ({ version: eb('version', '+', 1) }))
    .where('id', '=', id)
    .returning(['owner', 'spelling', 'created_at_ms'])
    .executeTakeFirst();
}

/** Decrypts the settings of an application. Throws `StoreError`. */
export function openEntry(seal: Seal, sealed: string, id: string): string {
  try {
    return seal.open(sealed, id);
  } catch (cause) {
    throw new StoreError('the settings of an application cannot be decrypted', { cause });
  }
}
