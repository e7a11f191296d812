import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { Seal } from '#base/secrets/seal.ts';
import { Secret } from '#base/secrets/secret.ts';
import { SqlEntryStore } from '#stores/sql/administration/entry-store.ts';
import { SqlApplicationStore } from '#stores/sql/applications/application-store.ts';
import { SqlChatStore } from '#stores/sql/chats/chat-store.ts';
import { SqlShareStore } from '#stores/sql/chats/share-store.ts';
import type { SqlDatabase } from '#stores/sql/engine/sql-database.ts';
import { SqlEvaluationStore } from '#stores/sql/evaluations/evaluation-store.ts';
import { resealAll } from '#stores/sql/reseal.ts';
import { SqlConversationStore } from '#stores/sql/responses/conversation-store.ts';
import { SqlResponseStore } from '#stores/sql/responses/response-store.ts';
import { SqlScimStore } from '#stores/sql/scim/scim-store.ts';
import { describeOnEach, type Node } from '#test/sql-engines.ts';

const [oldest, newest] = [new Secret('the secret of last year'), new Secret('the secret of this year')];
const rotating = new Seal([newest, oldest]);
const nowMs = 1_763_700_000_000;
const untilMs = nowMs + 86_400_000;
const subject = 'ada';

/** Stores of all data that are sealed, except the content of calls. */
function openStores(database: SqlDatabase, seal: Seal) {
  return {
    entries: new SqlEntryStore(database, seal),
    applications: new SqlApplicationStore(database, seal),
    evaluations: new SqlEvaluationStore(database, seal),
    scim: new SqlScimStore(database, seal),
    chats: new SqlChatStore(database, seal),
    shares: new SqlShareStore(database, seal),
    responses: new SqlResponseStore(database, seal),
    conversations: new SqlConversationStore(database, seal),
  };
}

type Stores = ReturnType<typeof openStores>;

const ids = {
  application: 'applications/bucket/app',
  case: 'case-1',
  evaluation: 'evaluation-1',
  change: 'change-1',
  user: 'user-1',
  response: 'resp_1',
  conversation: 'conv_1',
  tokenHash: 'hash of the token',
};

async function fill({
  entries,
  applications,
  evaluations,
  scim,
  chats,
  shares,
  responses,
  conversations,
}: Stores): Promise<void> {
  const entry = { displayName: 'App', features: { consentRequired: false }, defaults: {}, dependencies: [], maxRetryAttempts: 1 };
  const saved = { id: ids.application, owner: subject, entry, createdAtMs: nowMs, updatedAtMs: nowMs };
  for (const etag of ['one', 'two']) await applications.put({ ...saved, etag }, undefined);
  const evaluationCase = { input: 'Hello', checks: [] };
  const times = { createdAtMs: nowMs, updatedAtMs: nowMs };
  await evaluations.cases.add([{ id: ids.case, application: ids.application, case: evaluationCase, ...times }]);
  const counts = { passed: 0, failed: 0, errors: 0 };
  const ends = { endedAtMs: undefined, error: undefined, costUsd: undefined, digest: undefined };
  await evaluations.begin(
    {
      ...{ id: ids.evaluation, application: ids.application, version: 1, subject, status: 'in_progress', total: 1 },
      ...{ tally: counts, startedAtMs: nowMs, ...ends },
    } as Parameters<Stores['evaluations']['begin']>[0],
    'node',
    { maxStored: 10, maxBytes: 1_000_000, maxInProgress: 10 },
  );
  await evaluations.addResult(ids.evaluation, 'node', {
    ...{ nth: 0, caseId: ids.case, case: evaluationCase, outcome: 'passed', verdicts: [], answer: 'Hi', toolRuns: [] },
    ...{ error: null, usage: [], durationMs: 1, trace: [] },
  } as Parameters<Stores['evaluations']['addResult']>[2]);

  const { revision } = await entries.readUpdates(0);
  const writes = Array.from({ length: 30 }, (_, nth) => ({
    ...{ kind: 'roles' as const, id: `role-${nth}`, before: undefined, after: { value: { limits: { nth } } } },
  }));
  await entries.commit(revision, { id: ids.change, atMs: nowMs, author: subject, action: 'saved', writes });
  await entries.commitFiles(revision + 1, { digest: 'digest', text: '{"roles":{}}' });
  const user = { id: ids.user, userName: 'ada', externalId: null, isActive: true, attributes: { title: 'Dr.' } };
  await scim.addUser({ ...user, ...times }, undefined);

  const turn = { id: 'q', parent: '', kind: 'question' as const, atMs: 1, text: 'Hello' };
  const bounds = { condition: undefined, maxBytesPerChat: 1_000_000, maxBytesPerUser: 1_000_000 };
  const chat = { updatedAtMs: nowMs, fields: { title: 'Trip' }, extra: { shown: { '': 'q' } }, turns: [turn] };
  await chats.write({ subject, id: 'a' }, chat, bounds);
  const snapshot = { title: 'Trip', deployment: 'demo', turns: [{ text: 'Hello' }], files: [] };
  const share = { id: 's', tokenHash: ids.tokenHash, createdAtMs: nowMs, expiresAtMs: untilMs, revision: 1, snapshot };
  await shares.share({ subject, id: 'a' }, share, { maxPerUser: 9, maxBytesPerUser: 1_000_000 });

  const running = {
    ...{ id: ids.response, subject, status: 'queued' as const, isBackground: true, previousId: undefined, node: '' },
    ...{ createdAtMs: nowMs, expiresAtMs: untilMs, items: undefined, response: { id: ids.response }, input: [] },
  };
  await responses.begin(running, { model: 'demo' });
  await conversations.add({ id: ids.conversation, subject, createdAtMs: nowMs, metadata: { topic: 'Trip' } }, [
    { id: 'msg_1', type: 'message' },
  ]);
}

/** Reads all sealed data. */
async function readAll({ entries, applications, evaluations, scim, chats, shares, responses, conversations }: Stores) {
  const conversation = { id: ids.conversation, subject };
  return [
    await applications.find(ids.application),
    await applications.findVersion(ids.application, 1),
    await evaluations.cases.find(ids.case),
    await evaluations.listResults(ids.evaluation),
    await entries.readUpdates(0),
    await entries.findChange(ids.change),
    await entries.listChanges({ beforeRevision: 1_000, limit: 1 }),
    await scim.findUser(ids.user),
    await chats.readChat({ subject, id: 'a' }, 0),
    await shares.openShare(ids.tokenHash, nowMs),
    await responses.find({ id: ids.response, subject }, nowMs),
    await responses.runs.readEventsAfter(ids.response, -1),
    await conversations.find(conversation),
    await conversations.readAll(conversation, 1e9),
  ];
}

async function readSealedTexts({ engine, database }: Node): Promise<ReadonlyMap<string, readonly string[]>> {
  const columns =
    engine === 'SQLite'
      ? sql<{ table: string; column: string }>`select m.name as "table", c.name as "column"
          from sqlite_schema m, pragma_table_info(m.name) c where m.type = 'table' and c.name glob 'sealed_*'`
      : sql<{ table: string; column: string }>`select table_name as "table", column_name as "column"
          from information_schema.columns where table_schema = current_schema() and column_name like 'sealed\\_%'`;
  return database.run(async (kysely) => {
    const texts = new Map<string, readonly string[]>();
    for (const { table, column } of (await columns.execute(kysely)).rows) {
      if (table.startsWith('call_contents')) continue;
      const select = sql<{ text: string | null }>`select ${sql.ref(column)} as text from ${sql.table(table)}`;
      const { rows } = await select.execute(kysely);
      const filled = rows.flatMap(({ text }) => (text ? [text] : []));
      texts.set(`${table}.${column}`, filled);
    }
    return texts;
  });
}

describeOnEach('data that an older secret sealed', (node) => {
  const open = (seal: Seal) => openStores(node.database, seal);
  const countOutdated = async () => {
    const texts = await readSealedTexts(node);
    return [...texts.values()].flat().filter((text) => !text.startsWith(rotating.newestPrefix)).length;
  };

  it('are sealed with the newest secret, in every column of the schema, and read unchanged without the older one', async () => {
    const stores = open(new Seal([oldest]));
    await fill(stores);
    const running = { id: ids.response, subject };
    await stores.responses.runs.append(running, '', { first: 0, events: [{ sequence_number: 0 }] });
    const before = await readAll(stores);
    const outdated = await countOutdated();
    for (const [column, texts] of await readSealedTexts(node)) expect([column, texts.length > 0]).toEqual([column, true]);

    expect(await resealAll(node.database, new Seal([oldest]))).toBe(0);
    expect(await resealAll(node.database, rotating)).toBe(outdated);
    expect(await countOutdated()).toBe(0);
    expect(await resealAll(node.database, rotating)).toBe(0);
    const after = open(new Seal([newest]));
    expect(await readAll(after)).toEqual(before);
    expect(await after.responses.runs.claim(running, 'node', nowMs)).toMatchObject({ run: { model: 'demo' } });
  });

  it('are sealed in pages, and a text that cannot be opened stops no other', async () => {
    const stores = open(new Seal([oldest]));
    const conversation = { id: `conv_${randomUUID()}`, subject };
    const items = Array.from({ length: 1_100 }, (_, nth) => ({ id: `item_${nth}`, type: 'message', text: `no ${nth}` }));
    await stores.conversations.add({ ...conversation, createdAtMs: nowMs, metadata: {} }, items.slice(0, 1_000));
    await stores.conversations.append(conversation, items.slice(1_000));
    const spoil = sql`update conversation_items set sealed_item = 's1.aaaaaaaa.spoilt' where conversation = ${conversation.id} and nth = 3`;
    await node.database.run((kysely) => spoil.execute(kysely));
    await expect(resealAll(node.database, rotating)).rejects.toThrow('not sealed');
    expect(await countOutdated()).toBe(1);
    const repair = sql`delete from conversation_items where conversation = ${conversation.id} and nth = 3`;
    await node.database.run((kysely) => repair.execute(kysely));
    const after = await open(new Seal([newest])).conversations.readAll(conversation, 1e9);
    expect(after).toEqual(items.filter((_, nth) => nth !== 3));
  });
});
