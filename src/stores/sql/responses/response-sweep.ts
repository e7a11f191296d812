import type { Kysely } from 'kysely';
import type { SqlDatabase } from '../engine/sql-database.ts';
import type { Schema } from '../schema.ts';

const rowsPerStatement = 200;

/**
 * Deletes expired leases, which killed nodes leave, and expired responses that no other response continues. Returns the number of
 * deleted responses. Each statement deletes responses of one user only, so that it locks a single row of `stored_bytes`. Each is a
 * separate operation, so that the operations of calls run in between.
 */
export async function sweepResponses(database: SqlDatabase, nowMs: number): Promise<number> {
  await database.run((kysely) => kysely.deleteFrom('leases').where('until_ms', '<=', database.toStoreMs(nowMs)).execute());
  let count = 0;
  for (;;) {
    const expired = await database.run((kysely) => readExpired(kysely, nowMs));
    if (expired.length === 0) return count;
    for (const [subject, rows] of Map.groupBy(expired, (row) => row.subject))
      count += await database.run((kysely) => drop(kysely, subject, rows));
  }
}

function readExpired(kysely: Kysely<Schema>, nowMs: number) {
  return kysely
    .selectFrom('responses')
    .select(['id', 'subject'])
    .where('expires_at_ms', '<=', nowMs)
    .where('owner', 'is', null)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('responses as later').select('later.id').whereRef('later.previous_id', '=', 'responses.id'))),
    )
    .orderBy('expires_at_ms')
    .limit(rowsPerStatement)
    .execute();
}

/** Deletes a user's oldest finished responses until at most `maxBytes` are stored. Returns the bytes that remain. */
export async function freeSpace(database: SqlDatabase, subject: string, maxBytes: number): Promise<number> {
  const readBytes = () => database.run((kysely) => readUsedBytes(kysely, subject));
  let usedBytes = await readBytes();
  while (usedBytes > maxBytes) {
    const oldest = await database.run((kysely) => readOldest(kysely, subject));
    const [first] = oldest;
    if (first === undefined) return usedBytes;
    let toFree = first.used_bytes - maxBytes;
    const dropped: (typeof oldest)[number][] = [];
    for (const response of oldest) {
      if (toFree <= 0) break;
      dropped.push(response);
      toFree -= response.bytes;
    }
    if (dropped.length > 0) await database.run((kysely) => drop(kysely, subject, dropped));
    usedBytes = await readBytes();
  }
  return usedBytes;
}

async function readUsedBytes(kysely: Kysely<Schema>, subject: string): Promise<number> {
  const counted = await kysely.selectFrom('stored_bytes').select('used_bytes').where('subject', '=', subject).executeTakeFirst();
  return counted?.used_bytes ?? 0;
}

/**
 * Reads the responses and the user's stored bytes in one statement. Otherwise responses that another node deletes in between
 * would still count as stored, and too many would be deleted.
 */
function readOldest(kysely: Kysely<Schema>, subject: string) {
  return kysely
    .selectFrom('responses')
    .innerJoin('stored_bytes', 'stored_bytes.subject', 'responses.subject')
    .select(['responses.id', 'responses.bytes', 'stored_bytes.used_bytes'])
    .where('responses.subject', '=', subject)
    .where('responses.owner', 'is', null)
    .orderBy('responses.created_at_ms')
    .limit(rowsPerStatement)
    .execute();
}

async function drop(kysely: Kysely<Schema>, subject: string, rows: readonly { readonly id: string }[]): Promise<number> {
  const ids = rows.map(({ id }) => id);
  const { numDeletedRows } = await kysely
    .deleteFrom('responses')
    .where('id', 'in', ids)
    .where('subject', '=', subject)
    .where('owner', 'is', null)
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}
