import { type Kysely, sql } from 'kysely';
import type { Schema } from '../schema.ts';

const rowsAtOnce = 200;

/** Deletes responses that have expired and are gone on from by none; gives how many. Those of one user at a time, as others write. */
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
      .limit(rowsAtOnce)
      .execute();
    if (expired.length === 0) return count;
    for (const [subject, ids] of groupBySubject(expired)) count += await drop(kysely, subject, ids);
  }
}

/** Deletes the oldest responses of a user that have ended until all of it takes no more than `maxBytes`; gives what it takes then. */
export async function freeSpace(kysely: Kysely<Schema>, subject: string, maxBytes: number): Promise<number> {
  let usedBytes = await readUsedBytes(kysely, subject);
  while (usedBytes > maxBytes) {
    const oldest = await readOldest(kysely, subject);
    const [first] = oldest;
    if (first === undefined) return usedBytes;
    let toFree = first.used_bytes - maxBytes;
    const ids: string[] = [];
    for (const { id, bytes } of oldest) {
      if (toFree <= 0) break;
      ids.push(id);
      toFree -= bytes;
    }
    if (ids.length > 0) await drop(kysely, subject, ids);
    usedBytes = await readUsedBytes(kysely, subject);
  }
  return usedBytes;
}

async function readUsedBytes(kysely: Kysely<Schema>, subject: string): Promise<number> {
  const counted = await kysely.selectFrom('stored_bytes').select('used_bytes').where('subject', '=', subject).executeTakeFirst();
  return counted?.used_bytes ?? 0;
}

/** With what all of it takes, as of the same moment: what another node deletes meanwhile is not freed a second time by deleting the next. */
function readOldest(kysely: Kysely<Schema>, subject: string) {
  return kysely
    .selectFrom('responses')
    .innerJoin('stored_bytes', 'stored_bytes.subject', 'responses.subject')
    .select(['responses.id', 'responses.bytes', 'stored_bytes.used_bytes'])
    .where('responses.subject', '=', subject)
    .where('responses.owner', 'is', null)
    .orderBy('responses.created_at_ms')
    .limit(rowsAtOnce)
    .execute();
}

async function drop(kysely: Kysely<Schema>, subject: string, ids: readonly string[]): Promise<number> {
  const { numDeletedRows } = await kysely
    .deleteFrom('responses')
    .where('id', 'in', ids)
    .where('subject', '=', subject)
    .where(sql<boolean>`owner is null`)
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

function groupBySubject(rows: readonly { readonly id: string; readonly subject: string }[]): ReadonlyMap<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const { id, subject } of rows) {
    const ids = groups.get(subject);
    if (ids === undefined) groups.set(subject, [id]);
    else ids.push(id);
  }
  return groups;
}
