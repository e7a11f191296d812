import { randomUUID } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { CompiledQuery, sql } from 'kysely';
import { Client } from 'pg';
import { expect, it, vi } from 'vitest';
import { Seal } from '#base/secrets/seal.ts';
import { Secret } from '#base/secrets/secret.ts';
import type { UsageFilter, UsageKey, UsageRecord } from '#domain/usage/journal.ts';
import { SqlApplicationStore } from '#stores/sql/applications/application-store.ts';
import { SqlBlockedUserStore } from '#stores/sql/callers/blocked-user-store.ts';
import { SqlKeyStore } from '#stores/sql/callers/key-store.ts';
import { SqlConsentStore } from '#stores/sql/consents/consent-store.ts';
import { SqlFileIndex } from '#stores/sql/files/file-index.ts';
import { SqlJournal } from '#stores/sql/journal/journal.ts';
import { SqlConversationStore } from '#stores/sql/responses/conversation-store.ts';
import { SqlResponseStore } from '#stores/sql/responses/response-store.ts';
import { describeOnEach } from '#test/sql-engines.ts';

const dayMs = 86_400_000;
const today = Math.floor(Date.now() / dayMs) + 400;
const nowMs = today * dayMs + dayMs / 2;

/** Tables that grow with the number of calls, users, or files. */
const growingTables =
  /^(usage_records|audit_records|audit_log|usage_sums|responses|response_|conversation|files|file_contents|consents|application|api_keys$|blocked_users)/;

interface Statement {
  readonly text: string;
  readonly parameters: readonly unknown[];
}

/** Runs `work` and returns the statements that it sends to the database. */
async function recordStatements(work: () => Promise<unknown>): Promise<readonly Statement[]> {
  const statements = new Map<string, Statement>();
  const recordStatement = (text: unknown, parameters: unknown) => {
    if (typeof text === 'string' && Array.isArray(parameters)) statements.set(text, { text, parameters });
  };
  const clientQueries = vi.spyOn(Client.prototype, 'query');
  const workerMessages = vi.spyOn(Worker.prototype, 'postMessage');
  await work();
  for (const [text, parameters] of clientQueries.mock.calls as unknown[][]) recordStatement(text, parameters);
  for (const [message] of workerMessages.mock.calls as [{ text?: unknown; parameters?: unknown }][])
    recordStatement(message.text, message.parameters);
  vi.restoreAllMocks();
  return [...statements.values()].filter(({ text }) => /^\s*(select|insert|update|delete|with)\b/i.test(text));
}

describeOnEach('queries', (node) => {
  /** Returns the growing tables that a statement reads completely, although an index could exist. */
  async function findScans({ text, parameters }: Statement): Promise<readonly string[]> {
    const explain = node.engine === 'SQLite' ? 'explain query plan' : 'explain';
    const { rows } = await node.database.transact(async (kysely) => {
      if (node.engine !== 'SQLite') await sql`set local enable_seqscan = off`.execute(kysely);
      return kysely.executeQuery<Record<string, unknown>>(CompiledQuery.raw(`${explain} ${text}`, [...parameters]));
    });
    const lines = rows.map((row) => String(row['QUERY PLAN'] ?? row.detail));
    const tables = lines.flatMap((line) => (/Seq Scan on (\w+)/.exec(line) ?? /^SCAN (\w+)$/.exec(line))?.[1] ?? []);
    return tables.filter((table) => growingTables.test(table));
  }

  async function expectIndexed(work: () => Promise<unknown>): Promise<void> {
    const statements = await recordStatements(work);
    expect(statements.length).toBeGreaterThan(0);
    for (const statement of statements) expect([statement.text, await findScans(statement)]).toEqual([statement.text, []]);
  }

  function usage(day: number, fields: Partial<UsageRecord> = {}): UsageRecord {
    const who = { subject: 'ada', project: 'lab', deployment: 'model', path: ['model'], operation: 'chat' } as const;
    const amounts = { promptTokens: 10, completionTokens: 5, cost: 7, durationMs: 1 };
    return { id: randomUUID(), requestId: 'r', atMs: day * dayMs, ...who, outcome: 'ok', status: 200, ...amounts, ...fields };
  }

  const filters: readonly UsageFilter[] = [
    {},
    { subject: 'ada' },
    { deployment: 'model' },
    { project: 'lab' },
    { keyId: 'k' },
    { requestId: 'r' },
    { session: 's' },
  ];

  it('without an index are recognized', async () => {
    const tables = await findScans({ text: 'select id from usage_records where status = 5', parameters: [] });
    expect(tables.length).toBeGreaterThan(0);
  });

  it.each([undefined, 30])('of the journal use indexes, with a retention of %s days', async (retentionDays) => {
    const journal = new SqlJournal(node.database, () => nowMs);
    const upkeep = { nowMs, retentionDays, signal: new AbortController().signal };
    const rating = { id: 'rating', action: 'deployment.rated', subject: 'ada', object: 'model', requestId: 'r', details: {} };
    await journal.maintain(upkeep);
    await expectIndexed(async () => {
      await journal.appendUsage([usage(today - 40), usage(today - 1), usage(today)]);
      await journal.appendAudit([{ ...rating, atMs: nowMs }]);
      await journal.maintain(upkeep);
    });
    await expectIndexed(async () => {
      await journal.readAudit({ beforeMs: nowMs, limit: 10 });
      const range = { fromMs: (today - 60) * dayMs, toMs: (today + 1) * dayMs };
      const groups: readonly (readonly UsageKey[])[] = [
        [],
        ['day', 'deployment'],
        ['project', 'deployment'],
        ['subject'],
        ['session'],
      ];
      await journal.listCalls({ fromMs: 0, toMs: nowMs, id: 'id', outcome: undefined, before: undefined, limit: 1 });
      await journal.listCalls({ ...range, outcome: undefined, status: 502, before: undefined, limit: 10 });
      for (const filter of filters) {
        for (const outcome of [undefined, 'failed'] as const)
          await journal.listCalls({ ...range, ...filter, outcome, before: { atMs: nowMs, id: '' }, limit: 10 });
        for (const by of groups) await journal.sumUsage({ ...range, ...filter, by, limit: 10 });
      }
    });
  });

  it('of the request path use indexes', async () => {
    const { database } = node;
    const seal = new Seal([new Secret('a secret of this test')]);
    const [applications, keys, responses] = [
      new SqlApplicationStore(database, seal),
      new SqlKeyStore(database),
      new SqlResponseStore(database, seal),
    ];
    const ref = { id: 'id', subject: 'ada' };
    await expectIndexed(async () => {
      await new SqlConsentStore(database).find('ada', 'model');
      await applications.find('applications/a/b');
      await applications.findAll(['a', 'b']);
      await applications.list('ada');
      await applications.listAccessible({ subject: 'ada', roles: ['staff'] });
      await new SqlFileIndex(database).find('bucket', 'path');
      await new SqlFileIndex(database).findAll([{ bucket: 'bucket', path: 'path' }]);
      await keys.list('ada');
      await keys.readUpdates(5);
      await keys.recordUses(new Map([['key', 1]]));
      await new SqlBlockedUserStore(database).list({ beforeMs: 9, beforeUser: '', limit: 10 });
      await responses.find(ref, nowMs);
      await responses.findItems('ada', ['item'], 1e9);
      await responses.sweep(nowMs);
      await new SqlConversationStore(database, seal).find(ref);
      await responses.runs.listWaiting(nowMs, 10);
      await responses.runs.listRunning('node');
      await responses.runs.isInProgress(ref);
      const times = { createdAtMs: nowMs, expiresAtMs: nowMs };
      const run = {
        ...ref,
        ...times,
        status: 'in_progress',
        isBackground: true,
        isChatRun: true,
        previousId: undefined,
      } as const;
      await responses.runs.beginChatRun({ ...run, response: {}, input: [], node: 'node' }, 32);
    });
  });
});
