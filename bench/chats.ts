/**
 * Measures lists and searches of chats: `npm run bench:chats -- [--rows N] [--engine PostgreSQL]`. Fills a database with
 * chats of many users, one with 10,000 chats and one with a tenth of all chats, and measures the store.
 */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { sql } from 'kysely';
import { Seal } from '#base/secrets/seal.ts';
import { Secret } from '#base/secrets/secret.ts';
import type { ChatCursor, ChatSearchQuery } from '#domain/chats/chat-store.ts';
import { SqlChatStore } from '#stores/sql/chats/chat-store.ts';
import { openSqlite } from '#stores/sql/engine/sqlite.ts';
import { openPostgres, startPostgres } from '#test/start-postgres.ts';
import { type FilledUser, fillUser, toChatId, toUniqueWord } from './chats/fill.ts';
import { measure } from './responses/timings.ts';

const { values: flags } = parseArgs({
  options: { rows: { type: 'string', default: '1000000' }, engine: { type: 'string', default: 'SQLite' } },
});
const rows = Number(flags.rows);
const perUser = 100;
const mediumUser = { subject: 'ten thousand', chats: Math.min(10_000, rows) };
const largeUser = { subject: 'a tenth', chats: Math.floor(rows / 10) };
const otherUserCount = Math.max(0, Math.floor((rows - mediumUser.chats - largeUser.chats) / perUser));
const folder = await mkdtemp(join(tmpdir(), 'parley-bench-'));
const seal = new Seal([new Secret('a secret of the bench')]);
const server = flags.engine === 'SQLite' ? undefined : await startPostgres('fsync=on', 'shared_buffers=128MB');
const connection = server === undefined ? await openSqlite(join(folder, 'parley.db')) : await openPostgres(server.url);
const { database } = connection;

function listUsers(): readonly FilledUser[] {
  const small = Array.from({ length: otherUserCount }, (_, index) => ({ subject: `user ${index}`, chats: perUser }));
  return [mediumUser, largeUser, ...small].filter(({ chats }) => chats > 0);
}

function countChats(subject: string): number {
  return listUsers().find((user) => user.subject === subject)?.chats ?? 0;
}

async function fill(): Promise<void> {
  const beganMs = performance.now();
  const nowMs = Date.now();
  for (const user of listUsers()) await fillUser({ database, seal, nowMs }, user);
  await database.run((kysely) => sql`analyze`.execute(kysely));
  const seconds = Math.round((performance.now() - beganMs) / 1000);
  console.info(`${flags.engine}: ${rows} conversations of ${listUsers().length} users written in ${seconds} s`);
}

/**
 * Finds all matches among the latest 10,000 chats, with the same requests as the page. Returns the numbers of matches and
 * requests.
 */
async function searchAll(store: SqlChatStore, subject: string, word: string): Promise<{ matchCount: number; requests: number }> {
  const query: ChatSearchQuery = { words: [word], limit: 100, archived: false, after: undefined };
  let matchCount = 0;
  let requests = 0;
  for (let after: ChatCursor | undefined, isFirst = true; isFirst || after !== undefined; isFirst = false) {
    const page = await store.search(subject, { ...query, after });
    matchCount += page.chats.length;
    requests += 1;
    after = page.next;
    if (requests === 20) break;
  }
  return { matchCount, requests };
}

async function measureStore(): Promise<void> {
  const store = new SqlChatStore(database, seal);
  const first = { limit: 100, archived: false, after: undefined };
  const subjects = [mediumUser.subject, largeUser.subject, `user ${Math.floor(otherUserCount / 2)}`];
  for (const subject of subjects) {
    const head = (await store.list(subject, first)).chats.at(-1);
    if (head === undefined) continue;
    const after = { shelf: 0, updatedAtMs: head.updatedAtMs - 3_600_000 * (countChats(subject) / 2), id: '' };
    await measure(`first page of '${subject}'`, () => store.list(subject, first), 100);
    await measure(`page in the middle of '${subject}'`, () => store.list(subject, { ...first, after }), 100);
    await measure(`changes of '${subject}'`, () => store.readChanges(subject, 0, 100), 100);
    await measure(`read one of '${subject}'`, (at) => store.readChat({ subject, id: toChatId(at % perUser) }, 0), 100);
  }
  const last = mediumUser.chats - 1;
  console.info(`one word in 10,000: ${JSON.stringify(await searchAll(store, mediumUser.subject, toUniqueWord(last)))}`);
  await measure(
    'search of 10,000, for the first time',
    () => searchAll(new SqlChatStore(database, seal), mediumUser.subject, toUniqueWord(last)),
    10,
  );
  await measure('search of 10,000, again', (at) => searchAll(store, mediumUser.subject, toUniqueWord(last - at)), 20);
  await measure('search of 10,000 for a missing word', () => searchAll(store, mediumUser.subject, 'nowhere'), 20);
  const nowhere = { words: ['nowhere'], limit: 100, archived: false, after: undefined };
  await measure(`a request of a search of ${largeUser.chats}`, () => store.search(largeUser.subject, nowhere), 5);
  await measure(
    'search of 100, for the first time',
    (at) => searchAll(store, `user ${at % otherUserCount}`, toUniqueWord(99)),
    100,
  );
}

try {
  await fill();
  await measureStore();
} finally {
  await connection.close();
  await server?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
}
