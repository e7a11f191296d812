/**
 * Measures the cost of storing responses: `npm run bench:responses -- [--rows N] [--engine PostgreSQL]`. Fills a database,
 * measures reads and writes at the stores and through a service, and prints the indexes that queries use. Also measures the delay
 * of the first byte and of the end of an answer if it is stored.
 */

import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Kysely, sql } from 'kysely';
import { Seal } from '#base/secrets/seal.ts';
import { Secret } from '#base/secrets/secret.ts';
import type { StoredResponse } from '#domain/responses/response-store.ts';
import { openSqlite } from '#stores/sql/engine/sqlite.ts';
import { SqlConversationStore } from '#stores/sql/responses/conversation-store.ts';
import { SqlResponseStore } from '#stores/sql/responses/response-store.ts';
import type { Schema } from '#stores/sql/schema.ts';
import { openPostgres, startPostgres } from '#test/start-postgres.ts';
import { measureAnswers, measureCalls } from './responses/through-service.ts';
import { measure } from './responses/timings.ts';

const { values: flags } = parseArgs({
  options: { rows: { type: 'string', default: '1000000' }, engine: { type: 'string', default: 'SQLite' } },
});
const rows = Number(flags.rows);
const isSqlite = flags.engine === 'SQLite';
const perUser = 1_000;
const nowMs = Date.now();
const folder = await mkdtemp(join(tmpdir(), 'parley-bench-'));
const seal = new Seal([new Secret('a secret of the bench')]);
const server = isSqlite ? undefined : await startPostgres('fsync=on', 'shared_buffers=128MB');
const connection = server === undefined ? await openSqlite(join(folder, 'parley.db')) : await openPostgres(server.url);
const { database } = connection;
const responses = new SqlResponseStore(database, seal);
const conversations = new SqlConversationStore(database, seal);

/** The first thousand responses belong to the caller of the service. */
function toSubject(index: number): string {
  return index < perUser ? 'key:bench' : `user ${Math.floor(index / perUser)}`;
}

function toResponseId(index: number, salt = ''): string {
  return `resp_${salt}${index.toString(36).padStart(24, '0')}`;
}

function toStored(index: number, salt = ''): StoredResponse {
  const id = toResponseId(index, salt);
  const content = [{ type: 'output_text', text: 'x'.repeat(500), annotations: [], logprobs: [] }];
  const output = [{ id: `msg_${salt}${index}`, type: 'message', role: 'assistant', status: 'completed', content }];
  const inputContent = [{ type: 'input_text', text: 'hello' }];
  return {
    ...{ id, subject: toSubject(index), status: 'completed', isBackground: false },
    previousId: index % 10 === 0 ? undefined : toResponseId(index - 1, salt),
    ...{ createdAtMs: nowMs + index, expiresAtMs: nowMs + 1e9 + index },
    response: { id, object: 'response', status: 'completed', model: 'm', output },
    input: [{ id: `msg_in_${salt}${index}`, type: 'message', role: 'user', content: inputContent }],
  };
}

async function fill(): Promise<void> {
  const began = performance.now();
  for (let number = 0; number < rows; number += 1_000)
    await Promise.all(
      Array.from({ length: Math.min(1_000, rows - number) }, (_, index) => responses.add(toStored(number + index))),
    );
  console.info(`${flags.engine}: ${rows} responses written in ${Math.round((performance.now() - began) / 1000)} s`);
}

/** Measures a synchronized disk write of the size of a response. */
async function measureDisk(): Promise<void> {
  await using file = await open(join(folder, 'synced'), 'w');
  await measure('write 4 KiB and sync them', async () => {
    await file.write(Buffer.alloc(4_096));
    await file.datasync();
  });
}

async function measureStores(): Promise<void> {
  const pickIndex = (sample: number): number => (sample * 7_919 * 101) % rows;
  await measure('read a response', (sample) => responses.find(toStored(pickIndex(sample)), nowMs));
  await measure('read a chain of up to 10', (sample) =>
    responses.findChain(toStored(pickIndex(sample)), { nowMs, maxBytes: 1e9 }),
  );
  await measure('find an item', (sample) => responses.findItems(toSubject(pickIndex(sample)), [`msg_${pickIndex(sample)}`], 1e9));
  await measure('store a response', (sample) => responses.add(toStored(pickIndex(sample), 'new')));
  await measure('delete a response', (sample) => responses.delete(toStored(pickIndex(sample), 'new')));
  await measure('count the responses of a user', (sample) => responses.deleteOldest(toSubject(pickIndex(sample)), 1e12));
  const conversation = { id: 'conv_bench', subject: 'user 1', createdAtMs: nowMs, metadata: {} };
  await conversations.add(conversation, []);
  await measure('append to a conversation', (sample) =>
    conversations.append(conversation, [{ id: `msg_of_${sample}`, type: 'message' }]),
  );
  await measure('page of a conversation', () =>
    conversations.readPage(conversation, { limit: 20, maxBytes: 2 ** 21, order: 'desc' }),
  );
}

const queries = [
  "select * from responses where id = 'resp_1' and subject = 'user 1'",
  "select id from responses where subject = 'user 1' and owner is null order by created_at_ms limit 200",
  "select response from response_items where id in ('msg_1')",
  "select id from responses where owner = 'node' and status in ('queued', 'in_progress')",
  'select id from responses where expires_at_ms <= 5 and owner is null order by expires_at_ms limit 200',
  "select id from responses where previous_id = 'resp_1'",
  "select * from response_events where response = 'resp_1' and last > 5 order by first limit 50",
  "select * from conversation_items where conversation = 'conv_1' and is_hidden = 0 and nth > 5 order by nth limit 21",
];

async function explain(kysely: Kysely<Schema>, query: string): Promise<void> {
  const { rows: plan } = await sql.raw<object>(`${isSqlite ? 'explain query plan' : 'explain'} ${query}`).execute(kysely);
  console.info(`${query.slice(0, 90)}…\n${plan.map((line) => `    ${Object.values(line).at(-1)}`).join('\n')}`);
}

try {
  await measureDisk();
  await fill();
  if (!isSqlite) await database.run((kysely) => sql`analyze`.execute(kysely));
  await measureStores();
  const stores = { responses, conversations, isShared: false };
  await measureCalls(stores, { toId: toResponseId, ownCount: Math.min(perUser, rows) });
  await measureAnswers(stores);
  await database.run(async (kysely) => {
    for (const query of queries) await explain(kysely, query);
  });
} finally {
  await connection.close();
  await server?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
}
