/**
 * What it costs to keep responses: `node bench/responses.ts [rows] [postgres://…]`. Fills a database with rows, then measures
 * reads and writes among them, shows by which indexes they are found, and what storing adds to the end of a response.
 */

import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Kysely, sql } from 'kysely';
import { Seal } from '#base/seal.ts';
import { Secret } from '#base/secret.ts';
import type { StoredResponse } from '#domain/responses/response-store.ts';
import { SqlConversationStore } from '#stores/sql/conversation-store.ts';
import { openPostgres } from '#stores/sql/open-postgres.ts';
import { openSqlite } from '#stores/sql/open-sqlite.ts';
import { SqlResponseStore } from '#stores/sql/response-store.ts';
import type { Schema } from '#stores/sql/schema.ts';
import { hello } from '#test/chunks.ts';
import { jsonReply, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { startService, withKey } from '#test/start-service.ts';

const [given = '1000000', url] = process.argv.slice(2);
const rows = Number(given);
const samples = 2_000;
const perUser = 1_000;
const nowMs = Date.now();
const folder = join(tmpdir(), `parley-bench-${process.pid}`);
const seal = new Seal([new Secret('a secret of the bench')]);
const opened = url === undefined ? await openSqlite(join(folder, 'parley.db')) : await openPostgres(new Secret(url));
const { database } = opened;
const responses = new SqlResponseStore(database, seal);
const conversations = new SqlConversationStore(database, seal);

function toStored(nth: number, salt = ''): StoredResponse {
  const id = `resp_${salt}${nth.toString(36).padStart(24, '0')}`;
  const output = [
    { id: `msg_${salt}${nth}`, type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'x'.repeat(500) }] },
  ];
  return {
    ...{ id, subject: `user ${Math.floor(nth / perUser)}`, status: 'completed', isBackground: false },
    previousId: nth % 10 === 0 ? undefined : `resp_${salt}${(nth - 1).toString(36).padStart(24, '0')}`,
    ...{ createdAtMs: nowMs + nth, expiresAtMs: nowMs + 1e9 + nth },
    response: { id, object: 'response', status: 'completed', output },
    input: [{ id: `msg_in_${salt}${nth}`, type: 'message', role: 'user', content: 'hello' }],
  };
}

async function fill(): Promise<void> {
  const began = performance.now();
  for (let nth = 0; nth < rows; nth += 1_000)
    await Promise.all(Array.from({ length: Math.min(1_000, rows - nth) }, (_, index) => responses.add(toStored(nth + index))));
  console.error(`${rows} responses written in ${Math.round((performance.now() - began) / 1000)} s`);
}

async function measure(what: string, work: (nth: number) => Promise<unknown>): Promise<void> {
  const took: number[] = [];
  for (let sample = 0; sample < samples; sample += 1) {
    const began = performance.now();
    await work((sample * 7_919 * 101) % rows);
    took.push(performance.now() - began);
  }
  took.sort((one, other) => one - other);
  const at = (share: number): string => (took[Math.floor(samples * share)] ?? 0).toFixed(3);
  console.error(`${what.padEnd(34)} p50 ${at(0.5)} ms  p99 ${at(0.99)} ms`);
}

async function explain(kysely: Kysely<Schema>, query: string): Promise<void> {
  const { rows: plan } = await sql
    .raw<object>(`${url === undefined ? 'explain query plan' : 'explain'} ${query}`)
    .execute(kysely);
  console.error(`${query.slice(0, 90)}…\n${plan.map((line) => `    ${Object.values(line).at(-1)}`).join('\n')}`);
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

/** The same call with and without storing, in turn. */
async function measureEnd(): Promise<void> {
  const message = { role: 'assistant', content: 'Hello!' };
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  const whole = {
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    usage,
  };
  const upstream = await startScriptedUpstream(jsonReply(whole));
  const models = { m: { upstreams: [{ endpoint: upstream.endpoint, key: 'k' }] } };
  const service = await startService({ models }, { responses: { responses, conversations, isShared: false } });
  const took = { true: [] as number[], false: [] as number[] };
  const input = String(hello[0]?.content);
  for (let sample = 0; sample < samples; sample += 1)
    for (const store of [true, false]) {
      const began = performance.now();
      await service.ask({ path: '/v1/responses', headers: withKey(), body: { model: 'm', input, store } });
      took[`${store}`].push(performance.now() - began);
    }
  const median = (all: number[]): number => all.toSorted((one, other) => one - other)[samples / 2] ?? 0;
  const [stored, unstored] = [median(took.true), median(took.false)];
  console.error(`a call ${unstored.toFixed(3)} ms, stored ${stored.toFixed(3)} ms: ${(stored - unstored).toFixed(3)} ms more`);
  await service.close();
  await upstream.close();
}

await fill();
await measure('read a response', (nth) => responses.find(toStored(nth), nowMs));
await measure('read a chain of up to 10', (nth) => responses.chain(toStored(nth), { nowMs, maxBytes: 1e9 }));
await measure('find an item', (nth) => responses.findItems(toStored(nth).subject, [`msg_${nth}`]));
await measure('store a response', (nth) => responses.add(toStored(nth, `new${Math.random()}`)));
await measure('count what a user has', (nth) => responses.keepWithin(toStored(nth).subject, 1e12));
const conversation = { id: 'conv_bench', subject: 'user 1', createdAtMs: nowMs, metadata: {} };
await conversations.add(conversation, []);
await measure('append to a conversation', () =>
  conversations.append(conversation, [{ id: `msg_${Math.random()}`, type: 'message' }]),
);
await measure('page of a conversation', () => conversations.page(conversation, { limit: 20, order: 'desc' }));
await database.run(async (kysely) => {
  if (url !== undefined) await sql`analyze`.execute(kysely);
  for (const query of queries) await explain(kysely, query);
});
await measureEnd();
await opened.close();
await rm(folder, { recursive: true, force: true });
