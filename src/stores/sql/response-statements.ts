import { sql } from 'kysely';
import type { EndedFields } from './response-rows.ts';
import type { ResponseRow } from './response-schema.ts';
import { SteadyStatement } from './steady-statement.ts';

interface Ended extends EndedFields {
  readonly id: string;
  /** The node that is to have it. */
  readonly node: string;
}

/** States of responses that have not ended. */
export const underWay = ['queued', 'in_progress'] as const;

/**
 * Returned by a statement, it has it answered as soon as everybody can see what it wrote; that is on the disk a little later, within a
 * millisecond or so with SQLite, three times `wal_writer_delay` at most with PostgreSQL. A node that is
 * killed loses nothing of it; a machine that loses its power may.
 */
export const syncedBehind = sql<null>`set_config('synchronous_commit', 'off', true)`.as('synced');

/** Statements that the end of an answer waits for. */
export class ResponseStatements {
  /** Synced behind. */
  readonly add = new SteadyStatement<ResponseRow, unknown>(
    (kysely, row) => kysely.insertInto('responses').values(row).returning(syncedBehind),
    (row) => Object.values(row),
  );
  readonly end = toEnding(false);
  readonly endSyncedBehind = toEnding(true);
}

function toEnding(isBehind: boolean): SteadyStatement<Ended, { readonly id: string }> {
  return new SteadyStatement(
    (kysely, { id, node, ...fields }) =>
      kysely
        .updateTable('responses')
        .set({ ...fields, owner: null, sealed_run: null })
        .where('id', '=', id)
        .where('owner', '=', node)
        .where('status', 'in', underWay)
        .returning('id')
        .$if(isBehind, (ending) => ending.returning(syncedBehind)),
    ({ id, node, ...fields }) => [...Object.values(fields), null, null, id, node, ...underWay],
  );
}
