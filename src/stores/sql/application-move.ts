import type { Kysely } from 'kysely';
import type { ApplicationMove } from '#domain/deployments/application-store.ts';
import { lockRow } from './application-rows.ts';
import type { Schema } from './schema.ts';

/** What is sealed for one id, sealed for another. */
type SealAnew = (sealed: string) => string;

/** Moves the rows of an application, all or none. */
export async function moveRows(
  transaction: Kysely<Schema>,
  move: ApplicationMove,
  sealAnew: SealAnew,
): Promise<'moved' | 'absent' | 'occupied'> {
  const { from, to, replaces } = move;
  // Where another one makes the row in between, it is there the next time.
  for (;;) {
    const there = new Set<string>();
    // Always in one order: two who lock the same rows never wait for each other.
    for (const id of [from, to].sort()) if ((await lockRow(transaction, id)) !== undefined) there.add(id);
    if (!there.has(from)) return 'absent';
    if (there.has(to) && !replaces) return 'occupied';
    if (there.has(to)) await transaction.deleteFrom('applications').where('id', '=', to).execute();
    if (await insertMoved(transaction, move, sealAnew)) break;
  }
  await transaction.updateTable('application_roles').set({ application: to }).where('application', '=', from).execute();
  await moveVersions(transaction, move, sealAnew);
  // These are sealed for ids of their own.
  await transaction.updateTable('evaluation_cases').set({ application: to }).where('application', '=', from).execute();
  await transaction.updateTable('evaluations').set({ application: to }).where('application', '=', from).execute();
  await transaction.deleteFrom('applications').where('id', '=', from).execute();
  return 'moved';
}

async function insertMoved(
  transaction: Kysely<Schema>,
  { from, to, spelling, nowMs, etag }: ApplicationMove,
  sealAnew: SealAnew,
): Promise<boolean> {
  const row = await transaction.selectFrom('applications').selectAll().where('id', '=', from).executeTakeFirstOrThrow();
  const roles_etag = row.roles_etag === row.etag ? etag : null;
  const inserted = await transaction
    .insertInto('applications')
    .values({
      ...row,
      id: to,
      spelling: spelling ?? null,
      sealed_entry: sealAnew(row.sealed_entry),
      etag,
      roles_etag,
      updated_at_ms: nowMs,
    })
    .onConflict((there) => there.doNothing())
    .returning('id')
    .executeTakeFirst();
  return inserted !== undefined;
}

async function moveVersions(transaction: Kysely<Schema>, { from, to }: ApplicationMove, sealAnew: SealAnew): Promise<void> {
  const versions = await transaction.selectFrom('application_versions').selectAll().where('application', '=', from).execute();
  for (const { version, sealed_entry } of versions) {
    await transaction
      .updateTable('application_versions')
      .set({ application: to, sealed_entry: sealAnew(sealed_entry) })
      .where('application', '=', from)
      .where('version', '=', version)
      .execute();
  }
}
