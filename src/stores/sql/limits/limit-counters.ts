import { createHash } from 'node:crypto';
import { parseJson } from '#base/json/json.ts';
import { splitIntoBatches } from '#base/stream/batches.ts';
import type { CounterArchive, CounterState, StoredCounter } from '#domain/limits/limit-store.ts';
import { computePeriodEnds, parseWindowName, type Window } from '#domain/limits/windows.ts';
import type { SqlDatabase } from '../engine/sql-database.ts';
import type { LimitCounterRow } from './limit-tables.ts';

const rowsPerStatement = 500;
const rowsPerPage = 5000;
const sweepIntervalMs = 60_000;

/** Counters of nodes without Redis, one row per node, window, and holder. A node writes only its own rows. */
export class SqlLimitCounters implements CounterArchive {
  readonly #database: SqlDatabase;
  readonly #owner: string;
  #sweepAtMs = 0;

  /** `owner` stays the same across restarts if no other node uses the database. Otherwise it is unique to this process. */
  constructor(database: SqlDatabase, owner: string) {
    this.#database = database;
    this.#owner = owner;
  }

  async load(nowMs: number): Promise<readonly StoredCounter[]> {
    const findWindow = createWindowFinder(nowMs);
    const sums = new Map<string, { -readonly [Key in keyof StoredCounter]: StoredCounter[Key] }>();
    for (let last = ''; ; ) {
      const rows = await this.#readPage(last, nowMs);
      for (const { period, holder, ends_at_ms, owner, used } of rows) {
        const { window, endsAtMs } = findWindow(period);
        if (window === undefined || endsAtMs !== ends_at_ms) continue;
        const key = `${period} ${holder}`;
        const sum = sums.get(key) ?? { window, holder: String(parseJson(holder)), endsAtMs: ends_at_ms, used: 0, ownUsed: 0 };
        sum.used += used;
        if (owner === this.#owner) sum.ownUsed += used;
        sums.set(key, sum);
      }
      if (rows.length < rowsPerPage) return [...sums.values()];
      last = rows.at(-1)?.id ?? '';
    }
  }

  async save(counters: readonly CounterState[], nowMs: number): Promise<void> {
    const current = counters.filter(({ endsAtMs }) => endsAtMs > nowMs);
    for (const batch of splitIntoBatches(current, rowsPerStatement)) {
      await this.#database.run((kysely) =>
        kysely
          .insertInto('limit_counters')
          .values(batch.map((counter) => toRow(this.#owner, counter)))
          .onConflict((conflict) =>
            conflict.column('id').doUpdateSet(({ ref }) => ({
              ends_at_ms: ref('excluded.ends_at_ms'),
              used: ref('excluded.used'),
            })),
          )
          .execute(),
      );
    }
    if (nowMs >= this.#sweepAtMs) await this.#sweep(nowMs);
  }

  #readPage(last: string, nowMs: number): Promise<readonly LimitCounterRow[]> {
    return this.#database.run((kysely) =>
      kysely
        .selectFrom('limit_counters')
        .selectAll()
        .where('id', '>', last)
        .where('ends_at_ms', '>', nowMs)
        .orderBy('id')
        .limit(rowsPerPage)
        .execute(),
    );
  }

  /** Deletes rows of periods that have ended, a bounded number at a time. */
  async #sweep(nowMs: number): Promise<void> {
    await this.#database.run((kysely) =>
      kysely
        .deleteFrom('limit_counters')
        .where('id', 'in', (ended) =>
          ended
            .selectFrom('limit_counters')
            .select('id')
            .where('ends_at_ms', '<=', nowMs)
            .orderBy('ends_at_ms')
            .limit(rowsPerPage),
        )
        .where('ends_at_ms', '<=', nowMs)
        .execute(),
    );
    this.#sweepAtMs = nowMs + sweepIntervalMs;
  }
}

function toRow(owner: string, { window, holder, endsAtMs, used }: CounterState): LimitCounterRow {
  const period = window.name;
  // JSON escapes characters that a database rejects in text.
  const text = JSON.stringify(holder);
  const id = createHash('sha256').update(`${owner}\n${period}\n${text}`).digest('base64url');
  return { id, owner, period, holder: text, ends_at_ms: endsAtMs, used };
}

interface CurrentWindow {
  readonly window?: Window;
  /** End of its current period. */
  readonly endsAtMs?: number;
}

/** Returns a function that converts the name of a window to the window and the end of its current period. Parses each name once. */
function createWindowFinder(nowMs: number): (name: string) => CurrentWindow {
  const windowsByName = new Map<string, CurrentWindow>();
  return (name) => {
    const cached = windowsByName.get(name);
    if (cached !== undefined) return cached;
    const window = parseWindowName(name);
    const current = window === undefined ? {} : { window, endsAtMs: computePeriodEnds(nowMs, window.reset)[window.period] };
    windowsByName.set(name, current);
    return current;
  };
}
