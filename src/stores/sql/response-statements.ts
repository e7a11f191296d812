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

/** Statements that the end of an answer waits for. */
export class ResponseStatements {
  readonly add = new SteadyStatement<ResponseRow, unknown>(
    (kysely, row) => kysely.insertInto('responses').values(row),
    (row) => Object.values(row),
  );
  readonly end = new SteadyStatement<Ended, { readonly id: string }>(
    (kysely, { id, node, ...fields }) =>
      kysely
        .updateTable('responses')
        .set({ ...fields, owner: null, sealed_run: null })
        .where('id', '=', id)
        .where('owner', '=', node)
        .where('status', 'in', underWay)
        .returning('id'),
    ({ id, node, ...fields }) => [...Object.values(fields), null, null, id, node, ...underWay],
  );
}
