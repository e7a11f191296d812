import { sql } from 'kysely';
import type { JsonObject } from '#base/json/json.ts';
import type { Seal } from '#base/secrets/seal.ts';
import { Batches } from '#base/stream/batches.ts';
import type {
  EndedResponse,
  EventBatch,
  QueuedRun,
  ResponseRef,
  RunningResponse,
  RunStore,
  StoredResponse,
} from '#domain/responses/response-store.ts';
import { isAliveAt, toLeaseName } from '../engine/is-alive-at.ts';
import type { SqlDatabase } from '../engine/sql-database.ts';
import { openSealed } from '../engine/stored-values.ts';
import {
  asyncCommit,
  fromRow,
  type ReadRow,
  type ResponseStatements,
  readColumns,
  toEventsContext,
  toRunContext,
  toRunningRow,
  unfinishedStates,
} from './response-rows.ts';
import { endRun, toEventRow } from './run-end.ts';

interface AppendedEvents {
  readonly id: string;
  readonly node: string;
  readonly row: ReturnType<typeof toEventRow>;
}

const eventRowsPerQuery = 50;
const orphansPerBatch = 50;

/** Runs of responses. A row has an owner until its node has ended or released the run, also after a cancellation. */
export class SqlRunStore implements RunStore {
  readonly #database: SqlDatabase;
  readonly #seal: Seal;
  readonly #statements: ResponseStatements;
  readonly #appendBatches: Batches<AppendedEvents, boolean>;

  constructor(database: SqlDatabase, seal: Seal, statements: ResponseStatements) {
    this.#database = database;
    this.#seal = seal;
    this.#statements = statements;
    this.#appendBatches = new Batches((appended) => this.#append(appended));
  }

  async beginChatRun(run: RunningResponse, maxRuns: number): Promise<boolean> {
    const row = toRunningRow(this.#seal, run, undefined);
    // The values of a `select` have no column types, so each needs a cast. The set lists all integer columns of the row.
    const integers = new Set(['is_background', 'created_at_ms', 'expires_at_ms', 'bytes']);
    const values = Object.entries(row).map(([name, value]) =>
      integers.has(name) ? sql`cast(${value} as bigint)` : sql`cast(${value} as text)`,
    );
    const statement = sql<{ id: string }>`
      insert into responses (${sql.join(Object.keys(row).map((name) => sql.ref(name)))})
      select ${sql.join(values)} where (
        select count(*) from responses
        where subject = ${row.subject} and is_background = ${sql.lit(row.is_background)} and owner is not null
      ) < cast(${maxRuns} as bigint)
      on conflict (id) do nothing returning id, ${asyncCommit}`;
    const { rows } = await this.#database.run((kysely) => statement.execute(kysely));
    return rows.length > 0;
  }

  async claim({ id, subject }: ResponseRef, node: string, nowMs: number): Promise<QueuedRun | undefined> {
    const storeMs = this.#database.toStoreMs(nowMs);
    const row = await this.#database.run(async (kysely) => {
      const queued = await kysely
        .selectFrom('responses')
        .select('owner')
        .where('id', '=', id)
        .where('status', '=', 'queued')
        .where(({ not, eb, or }) =>
          or([eb('owner', '=', node), eb('owner', '=', ''), not(isAliveAt(storeMs, 'responses.owner'))]),
        )
        .executeTakeFirst();
      if (queued === undefined) return undefined;
      // Optimistic claim: only the node whose WHERE clause still matches the previous owner gets the run.
      return kysely
        .updateTable('responses')
        .set({ owner: node })
        .where('id', '=', id)
        .where('status', '=', 'queued')
        .where('owner', '=', queued.owner)
        .returning('sealed_run')
        .executeTakeFirst();
    });
    const sealed = row?.sealed_run;
    return typeof sealed === 'string' ? { id, subject, run: openSealed(this.#seal, sealed, toRunContext(id)) } : undefined;
  }

  async start({ id }: ResponseRef, node: string): Promise<boolean> {
    const started = await this.#database.run((kysely) =>
      kysely
        .updateTable('responses')
        .set({ status: 'in_progress' })
        .where('id', '=', id)
        .where('owner', '=', node)
        .where('status', '=', 'queued')
        .returning('id')
        .executeTakeFirst(),
    );
    return started !== undefined;
  }

  listWaiting(nowMs: number, limit: number): Promise<readonly ResponseRef[]> {
    const storeMs = this.#database.toStoreMs(nowMs);
    return this.#database.run((kysely) =>
      kysely
        .selectFrom('responses')
        .select(['id', 'subject'])
        .where('owner', 'is not', null)
        .where('status', '=', 'queued')
        .where('sealed_run', 'is not', null)
        .where(({ not }) => not(isAliveAt(storeMs, 'responses.owner')))
        .orderBy('created_at_ms')
        .limit(limit)
        .execute(),
    );
  }

  append({ id }: ResponseRef, node: string, batch: EventBatch): Promise<boolean> {
    return this.#appendBatches.add({ id, node, row: toEventRow(this.#seal, id, batch) });
  }

  async readEventsAfter(id: string, after: number): Promise<readonly JsonObject[]> {
    const rows = await this.#database.run((kysely) =>
      kysely
        .selectFrom('response_events')
        .select(['first', 'sealed_events'])
        .where('response', '=', id)
        .where('last', '>', after)
        .orderBy('first')
        .limit(eventRowsPerQuery)
        .execute(),
    );
    return rows.flatMap(({ first, sealed_events }) => {
      const events = openSealed<JsonObject[]>(this.#seal, sealed_events, toEventsContext(id, first));
      return events.slice(Math.max(0, after + 1 - first));
    });
  }

  async isInProgress({ id, subject }: ResponseRef): Promise<boolean> {
    const row = await this.#database.run((kysely) =>
      kysely
        .selectFrom('responses')
        .select('id')
        .where('id', '=', id)
        .where('subject', '=', subject)
        .where('status', 'in', unfinishedStates)
        .executeTakeFirst(),
    );
    return row !== undefined;
  }

  async listRunning(node: string): Promise<ReadonlySet<string>> {
    const rows = await this.#database.run((kysely) =>
      kysely.selectFrom('responses').select('id').where('owner', '=', node).where('status', 'in', unfinishedStates).execute(),
    );
    return new Set(rows.map(({ id }) => id));
  }

  async release({ id }: ResponseRef, node: string): Promise<void> {
    await this.#database.run((kysely) =>
      kysely
        .updateTable('responses')
        .set({ owner: sql<string | null>`case when status = 'queued' then '' else null end` })
        .where('id', '=', id)
        .where('owner', '=', node)
        .where('status', '!=', 'in_progress')
        .execute(),
    );
  }

  async renewLease(node: string, nodeUntilMs: number): Promise<void> {
    const untilMs = this.#database.toStoreMs(nodeUntilMs);
    await this.#database.run((kysely) =>
      kysely
        .insertInto('leases')
        .values({ name: toLeaseName(node), owner: node, until_ms: untilMs })
        .onConflict((conflict) => conflict.column('name').doUpdateSet({ until_ms: untilMs }))
        .execute(),
    );
  }

  async releaseLease(node: string): Promise<void> {
    await this.#database.run((kysely) => kysely.deleteFrom('leases').where('name', '=', toLeaseName(node)).execute());
  }

  async failOrphaned(nowMs: number, toFailed: (orphan: StoredResponse, nextEvent: number) => EndedResponse): Promise<number> {
    const storeMs = this.#database.toStoreMs(nowMs);
    const orphans = await this.#database.run((kysely) =>
      kysely
        .selectFrom('responses')
        .select([...readColumns, 'owner'])
        .select(sql<number>`(select coalesce(max(last), -1) + 1 from response_events where response = id)`.as('next'))
        .where('owner', '!=', '')
        .where(({ not, eb, or }) =>
          or([eb('status', '!=', 'queued'), eb('sealed_run', 'is', null)]).and(not(isAliveAt(storeMs, 'responses.owner'))),
        )
        .limit(orphansPerBatch)
        .execute(),
    );
    const outcomes = await Promise.allSettled(
      orphans.map(async ({ owner, next, ...row }) => {
        const node = owner ?? '';
        if (row.status === 'cancelled') return this.release(row, node);
        const ended = await this.#toEnded(row, node, (stored) => toFailed(stored, next));
        if (ended === undefined) return;
        const endOptions = { seal: this.#seal, statements: this.#statements, isAsync: false };
        await this.#database.transact<boolean>((kysely, rollBack) => endRun({ kysely, rollBack, ...endOptions }, ended, node));
      }),
    );
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
    return orphans.length;
  }

  /** Returns the failed response. If it cannot be decrypted, marks it as failed with unchanged content and returns undefined. */
  async #toEnded(
    row: ReadRow,
    node: string,
    toFailed: (orphan: StoredResponse) => EndedResponse,
  ): Promise<EndedResponse | undefined> {
    try {
      return toFailed(fromRow(this.#seal, row));
    } catch {
      await this.#database.run((kysely) =>
        kysely
          .updateTable('responses')
          .set({ status: 'failed', owner: null, sealed_run: null })
          .where('id', '=', row.id)
          .where('owner', '=', node)
          .execute(),
      );
      return undefined;
    }
  }

  /**
   * Inserts rows of events, except those of runs that the node no longer owns. A row whose earlier write was not acknowledged is
   * replaced by its retry, which may contain more events. Returns which rows were written.
   */
  async #append(appended: readonly AppendedEvents[]): Promise<readonly boolean[]> {
    const values = appended.map(
      ({ node, row }) =>
        sql`(${row.response}, cast(${row.first} as bigint), cast(${row.last} as bigint), ${row.sealed_events}, ${node})`,
    );
    const statement = sql<{ response: string; first: number }>`
      with added (response, first, last, sealed_events, node) as (values ${sql.join(values)})
      insert into response_events (response, first, last, sealed_events)
      select response, first, last, sealed_events from added where exists (
        select 1 from responses where id = response and owner = node and status in ('queued', 'in_progress'))
      on conflict (response, first) do update set last = excluded.last, sealed_events = excluded.sealed_events
      returning response, first`;
    const { rows } = await this.#database.run((kysely) => statement.execute(kysely));
    const appendedKeys = new Set(rows.map(({ response, first }) => `${first} ${response}`));
    return appended.map(({ row }) => appendedKeys.has(`${row.first} ${row.response}`));
  }
}
