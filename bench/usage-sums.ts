/**
 * Measures usage reports over daily sums: `node bench/usage-sums.ts [--days N] [--projects N] [--models N] [--engine PostgreSQL]`.
 * The defaults are the sums of 100,000,000 calls: 400 days with every pair of 1,000 projects and 50 models, 5 calls each. It
 * fills the tables of sums directly, because reports do not read the records of summed days. Results: `bench/README.md`.
 */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { sql } from 'kysely';
import { openSqlite } from '#stores/sql/engine/sqlite.ts';
import { SqlJournal } from '#stores/sql/journal/journal.ts';
import { openPostgres, startPostgres } from '#test/start-postgres.ts';
import { measure } from './responses/timings.ts';

const { values: flags } = parseArgs({
  options: {
    days: { type: 'string', default: '400' },
    projects: { type: 'string', default: '1000' },
    models: { type: 'string', default: '50' },
    engine: { type: 'string', default: 'SQLite' },
  },
});
const [days, projects, models] = [Number(flags.days), Number(flags.projects), Number(flags.models)];
const dayMs = 86_400_000;
const firstDay = Date.UTC(2030, 0, 1) / dayMs;
const endMs = (firstDay + days) * dayMs;
const folder = await mkdtemp(join(tmpdir(), 'parley-bench-'));
const server = flags.engine === 'SQLite' ? undefined : await startPostgres('fsync=off', 'shared_buffers=128MB');
const options = { timeoutMs: 600_000 };
const connection =
  server === undefined ? await openSqlite(join(folder, 'parley.db'), options) : await openPostgres(server.url, options);
const journal = new SqlJournal(connection.database, () => endMs);

async function execute(statement: string): Promise<void> {
  await connection.database.run((kysely) => sql.raw(statement).execute(kysely));
}

/** Adds the sums of one day: every pair of a project and a model. */
async function addDay(day: number): Promise<void> {
  const pairs = `with recursive numbers(n) as (select 0 union all select n + 1 from numbers where n < ${projects * models - 1})`;
  const columns = `1, ${day}, 'project ' || (n / ${models}), 'model ' || (n % ${models}), '', 0, 5, 0, 0, 500, 250, 5000000`;
  await execute(`insert into usage_sums ${pairs} select ${columns} from numbers`);
  await execute(`insert into usage_sum_periods values (1, ${day}, ${(day + 1) * dayMs}, 1, 0)`);
}

try {
  const beganMs = performance.now();
  for (let day = firstDay; day < firstDay + days; day += 1) await addDay(day);
  await execute('analyze');
  console.info(
    `${flags.engine}: ${days * projects * models} sums of days written in ${Math.round((performance.now() - beganMs) / 1000)} s`,
  );
  const monthsMs = performance.now();
  await journal.maintain({ nowMs: endMs + dayMs / 2, retentionDays: undefined, signal: new AbortController().signal });
  console.info(`months summed in ${Math.round(performance.now() - monthsMs)} ms`);
  const month = { fromMs: Date.UTC(2030, 5, 1), toMs: Date.UTC(2030, 6, 1) };
  const acrossMonths = { fromMs: Date.UTC(2030, 5, 15), toMs: Date.UTC(2030, 6, 15) };
  const by = ['project', 'deployment'] as const;
  await measure('a month by project and deployment', () => journal.sumUsage({ ...month, by, limit: 1001 }), 10);
  await measure('a month by project', () => journal.sumUsage({ ...month, by: ['project'], limit: 1001 }), 10);
  await measure('total of a month', () => journal.sumUsage({ ...month, by: [] }), 10);
  await measure(
    'a month of a project by day and deployment',
    () => journal.sumUsage({ ...month, by: ['day', 'deployment'], project: 'project 7' }),
    10,
  );
  await measure(
    '30 days of two months by project and deployment',
    () => journal.sumUsage({ ...acrossMonths, by, limit: 1001 }),
    3,
  );
  await measure('a month by day', () => journal.sumUsage({ ...month, by: ['day'] }), 3);
  await measure(
    'a year by project and deployment',
    () => journal.sumUsage({ fromMs: Date.UTC(2030, 0, 1), toMs: Date.UTC(2031, 0, 1), by, limit: 1001 }),
    3,
  );
} finally {
  await connection.close();
  await server?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
}
