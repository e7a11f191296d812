import type { Kysely } from 'kysely';
import { isStorableKey } from '#domain/deployments/storable-key.ts';
import type { BackgroundQuery } from '#domain/responses/response-store.ts';
import { type ReadRow, readColumns } from './response-rows.ts';
import type { Schema } from './schema.ts';

/** The rows of what a user had made in the background, the latest first; undefined if `after` is none of them. */
export async function readBackgroundList(
  kysely: Kysely<Schema>,
  subject: string,
  { limit, after, nowMs }: BackgroundQuery,
): Promise<readonly ReadRow[] | undefined> {
  const own = kysely.selectFrom('responses').where('subject', '=', subject).where('is_background', '=', 1);
  const latest = own
    .select(readColumns)
    .where('expires_at_ms', '>', nowMs)
    .orderBy('created_at_ms', 'desc')
    .orderBy('id', 'desc')
    .limit(limit);
  if (after === undefined) return latest.execute();
  if (!isStorableKey(after)) return undefined;
  const last = await own.select('created_at_ms').where('id', '=', after).executeTakeFirst();
  if (last === undefined) return undefined;
  const { created_at_ms: atMs } = last;
  return latest
    .where(({ eb, or }) => or([eb('created_at_ms', '<', atMs), eb('created_at_ms', '=', atMs).and('id', '<', after)]))
    .execute();
}
