import { type Kysely, sql } from 'kysely';
import type { Schema } from '../schema.ts';

const rowsPerStatement = 200;

/**
 * Deletes expired responses that no other response continues. Returns the number deleted. Each statement deletes responses of one
 * user only, so that it locks a single row of `stored_bytes`.
 */
export async function sweepResponses(kysely: Kysely<Schema>, nowMs: number): Promise<number> {
  let count = 0;
  for (;;) {
    const expired = await kysely
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
    if (expired.length === 0) return count;
    for (const [subject, rows] of Map.groupBy(expired, (row) => row.subject)) count += await drop(kysely, subject, rows);
  }
}

/** Deletes a user's oldest finished responses down to `maxBytes` of stored bytes. Returns the bytes that remain. */
export async function freeSpace(kysely: Kysely<Schema>, subject: string, maxBytes: number): Promise<number> {
  let usedBytes = await readUsedBytes(kysely, subject);
  while (usedBytes > maxBytes) {
    const oldest = await readOldest(kysely, subject);
    const [first] = oldest;
    if (first === undefined) return usedBytes;
    let toFree = first.used_bytes - maxBytes;
    const dropped = [];
    for (const response of oldest) {
      if (toFree <= 0) break;
      dropped.push(response);
      toFree -= response.bytes;
    }
    if (dropped.length > 0) await drop(kysely, subject, dropped);
    usedBytes = await readUsedBytes(kysely, subject);
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
    .where(sql<boolean>`owner is null`)
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}
