import { type Kysely, sql } from 'kysely';
import type { BrokenChain, ChainBounds, ResponsePlace } from '#domain/responses/response-store.ts';
import { type ReadRow, readColumns } from './response-rows.ts';
import type { Schema } from './schema.ts';

interface Link {
  readonly id: string;
  readonly previous_id: string | null;
  readonly bytes: number;
}

const rowsAtOnce = 500;

/** The rows of a response and of those it goes on from, the earliest first. */
export async function readChain(
  kysely: Kysely<Schema>,
  { id, subject }: ResponsePlace,
  { nowMs, maxBytes }: ChainBounds,
): Promise<readonly ReadRow[] | BrokenChain> {
  const { rows: links } = await sql<Link>`
    with recursive chain (id, previous_id, bytes) as (
      select id, previous_id, bytes from responses where id = ${id} and subject = ${subject} and expires_at_ms > ${nowMs}
      union all
      select earlier.id, earlier.previous_id, earlier.bytes from responses as earlier
      join chain on earlier.id = chain.previous_id where earlier.subject = ${subject}
    ) select id, previous_id, bytes from chain`.execute(kysely);
  const last = links.at(-1);
  if (last === undefined) return { absent: id };
  if (last.previous_id !== null) return { absent: last.previous_id };
  const bytes = links.reduce((sum, link) => sum + link.bytes, 0);
  if (bytes > maxBytes) return { bytes };
  const rows = await readRows(
    kysely,
    links.map((link) => link.id),
  );
  const gone = links.find((link) => !rows.has(link.id));
  if (gone !== undefined) return { absent: gone.id };
  return links.map((link) => rows.get(link.id) as ReadRow).reverse();
}

async function readRows(kysely: Kysely<Schema>, ids: readonly string[]): Promise<ReadonlyMap<string, ReadRow>> {
  const found = new Map<string, ReadRow>();
  for (let from = 0; from < ids.length; from += rowsAtOnce) {
    const some = ids.slice(from, from + rowsAtOnce);
    const rows = await kysely.selectFrom('responses').select(readColumns).where('id', 'in', some).execute();
    for (const row of rows) found.set(row.id, row);
  }
  return found;
}
