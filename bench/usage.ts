/**
 * Measures usage records: `npm run bench:usage -- [--rows N] [--engine PostgreSQL] [--retention DAYS]`. Fills a journal with a year
 * of many users, then measures lists of single calls, sums from the records and from the daily sums, appends, and the removal of
 * old days. SQLite stores days in tables only with `--retention`.
 */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { sql } from 'kysely';
import type { CallsQuery, UsageRecord } from '#domain/usage/journal.ts';
import { openSqlite } from '#stores/sql/engine/sqlite.ts';
import { SqlJournal } from '#stores/sql/journal/journal.ts';
import { openPostgres, startPostgres } from '#test/start-postgres.ts';
import { measure } from './responses/timings.ts';

const { values: flags } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    engine: { type: 'string', default: 'SQLite' },
    retention: { type: 'string' },
  },
});
const rows = Number(flags.rows);
const yearMs = 365 * 86_400_000;
/** Later than the first partition of the new database. */
const fromMs = Date.UTC(2030, 0, 1);
const folder = await mkdtemp(join(tmpdir(), 'parley-bench-'));
const server = flags.engine === 'SQLite' ? undefined : await startPostgres('fsync=on', 'shared_buffers=128MB');
const connection = server === undefined ? await openSqlite(join(folder, 'parley.db')) : await openPostgres(server.url);
const nowMs = fromMs + yearMs;
const journal = new SqlJournal(connection.database, () => nowMs);
const maintain = (retentionDays: number | undefined): Promise<void> =>
  journal.maintain({ nowMs, retentionDays, signal: new AbortController().signal });

/**
 * Creates a record of 1,000 users, 50 projects, and 40 deployments. One deployment has one in 10,000 calls. One call in 500
 * fails.
 */
function toRecord(index: number): UsageRecord {
  const deployment = index % 10_000 === 0 ? 'rare' : `model ${index % 40}`;
  return {
    ...{ id: `${index}`.padStart(12, '0'), requestId: `request ${index}`, atMs: fromMs + Math.floor((index / rows) * yearMs) },
    ...{ subject: `user ${(index * 7919) % 1000}`, project: index % 20_000 === 0 ? 'rare' : `project ${index % 50}` },
    ...{ deployment, path: [deployment], operation: 'chat', outcome: index % 500 === 0 ? 'failed' : 'ok', status: 200 },
    ...{ promptTokens: 100, completionTokens: 50, cost: 1_000_000, durationMs: 500 },
  };
}

async function append(first: number, count: number): Promise<void> {
  await journal.appendUsage(Array.from({ length: count }, (_, index) => toRecord(first + index)));
}

try {
  if (flags.retention !== undefined) await journal.maintain({ nowMs, retentionDays: 366, signal: new AbortController().signal });
  const beganMs = performance.now();
  for (let first = 0; first < rows; first += 10_000) await append(first, Math.min(10_000, rows - first));
  await connection.database.run((kysely) => sql`analyze`.execute(kysely));
  console.info(`${flags.engine}: ${rows} records written in ${Math.round((performance.now() - beganMs) / 1000)} s`);
  const noFilter = { subject: undefined, deployment: undefined, project: undefined, outcome: undefined, before: undefined };
  const year = { ...noFilter, fromMs, toMs: fromMs + yearMs, limit: 51 };
  const lists: Readonly<Record<string, CallsQuery>> = {
    everything: year,
    'from the middle on': { ...year, before: { atMs: fromMs + yearMs / 2, id: '' } },
    'of a user': { ...year, subject: 'user 5' },
    'of a deployment': { ...year, deployment: 'model 7' },
    'of a rare deployment': { ...year, deployment: 'rare' },
    'of a rare project': { ...year, project: 'rare' },
    'that failed': { ...year, outcome: 'failed' },
    'of a user that failed': { ...year, subject: 'user 5', outcome: 'failed' },
    'of a rare deployment on a day': { ...year, deployment: 'rare', toMs: fromMs + 86_400_000 },
  };
  for (const [name, query] of Object.entries(lists)) await measure(`calls, ${name}`, () => journal.listCalls(query), 50);
  const month = { fromMs: fromMs + yearMs / 2, toMs: fromMs + yearMs / 2 + 30 * 86_400_000 };
  const sums = async (source: string): Promise<void> => {
    const ofMonth = { ...month, subject: undefined };
    await measure(
      `30 days by day and deployment, from ${source}`,
      () => journal.sumUsage({ ...ofMonth, by: ['day', 'deployment'] }),
      5,
    );
    await measure(
      `30 days by project and deployment, from ${source}`,
      () => journal.sumUsage({ ...ofMonth, by: ['project', 'deployment'] }),
      5,
    );
    await measure(
      `30 days of a user, from ${source}`,
      () => journal.sumUsage({ ...month, subject: 'user 5', by: ['day', 'deployment'] }),
      20,
    );
  };
  await sums('records');
  const sumBeganMs = performance.now();
  await maintain(undefined);
  console.info(`365 days summed in ${Math.round(performance.now() - sumBeganMs)} ms`);
  await sums('daily sums');
  await measure('500 records appended', (batch) => append(rows + batch * 500, 500), 50);
  if (flags.retention !== undefined) {
    const removalBeganMs = performance.now();
    await maintain(Number(flags.retention));
    console.info(`${365 - Number(flags.retention)} days removed in ${Math.round(performance.now() - removalBeganMs)} ms`);
  }
} finally {
  await connection.close();
  await server?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
}
