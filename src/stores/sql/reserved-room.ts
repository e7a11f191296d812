import type { Kysely } from 'kysely';
import type { ReservationRow, Schema } from './schema.ts';

/** What is set aside in a bucket for contents on their way. */
export interface ReservedRoom {
  /** Beyond what the files have that they will replace. */
  readonly bytes: number;
  readonly rows: readonly Pick<ReservationRow, 'path' | 'replaced_bytes'>[];
}

/** The reservations of a bucket that hold, but for one's own. Within a transaction that has the bucket. */
export async function reservedIn(
  transaction: Kysely<Schema>,
  bucket: string,
  { besides, nowMs }: { besides: string; nowMs: number },
): Promise<ReservedRoom> {
  const rows = await transaction
    .selectFrom('file_reservations')
    .select(['path', 'reserved_bytes', 'replaced_bytes'])
    .where('bucket', '=', bucket)
    .where('blob', '!=', besides)
    .where('until_ms', '>', nowMs)
    .execute();
  return { rows, bytes: rows.reduce((sum, row) => sum + Math.max(row.reserved_bytes - row.replaced_bytes, 0), 0) };
}

/** Takes reservations away whose time is over: those of nodes that are gone. */
export async function dropEnded(transaction: Kysely<Schema>, bucket: string, nowMs: number): Promise<void> {
  await transaction.deleteFrom('file_reservations').where('bucket', '=', bucket).where('until_ms', '<=', nowMs).execute();
}

/** What becomes free as a content takes the place of a file: of several for one place, the first may count on it. */
export function replacedBy({ rows }: ReservedRoom, path: string, bytesThere: number): number {
  return rows.some((row) => row.path === path && row.replaced_bytes > 0) ? 0 : bytesThere;
}
