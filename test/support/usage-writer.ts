import type { UsageRecord } from '#domain/usage/journal.ts';
import { openSqlite } from '#stores/sql/engine/sqlite.ts';
import { SqlJournal } from '#stores/sql/journal/journal.ts';

/** Writes batches of usage with different numbers of records, and prints by how many MB the memory of this process grew. */
const { database, close } = await openSqlite(process.argv[2] ?? '');
const journal = new SqlJournal(database);
const call: Omit<UsageRecord, 'id'> = {
  ...{ requestId: 'request', atMs: Date.now(), subject: 'user', project: 'search', deployment: 'gpt', path: ['app', 'gpt'] },
  ...{ operation: 'chat', outcome: 'ok', status: 200, promptTokens: 10, completionTokens: 20, cost: 30, durationMs: 40 },
};

function append(batch: number): Promise<void> {
  return journal.appendUsage(Array.from({ length: 300 + batch }, (_, index) => ({ ...call, id: `${batch}-${index}` })));
}

await append(0);
const before = process.memoryUsage.rss();
for (let batch = 1; batch <= 120; batch += 1) await append(batch);
process.stdout.write(`grew by ${Math.round((process.memoryUsage.rss() - before) / 1e6)} MB\n`);
await close();
