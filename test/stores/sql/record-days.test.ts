import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { Seal } from '#base/secrets/seal.ts';
import { Secret } from '#base/secrets/secret.ts';
import type { AuditRecord, UsageRecord } from '#domain/usage/journal.ts';
import { SqlCallContents } from '#stores/sql/journal/call-contents.ts';
import { SqlJournal } from '#stores/sql/journal/journal.ts';
import { describeOnEach } from '#test/sql-engines.ts';

const dayMs = 86_400_000;
/** After the last day that the first partition contains, which ends two days after the migration. */
const today = Math.floor(Date.now() / dayMs) + 400;
const { signal } = new AbortController();

describeOnEach('stored days', (node) => {
  const open = (database = node.database, day = today) => new SqlJournal(database, () => day * dayMs + dayMs / 2);
  const maintain = (journal: SqlJournal, retentionDays?: number, day = today) =>
    journal.maintain({ nowMs: day * dayMs + dayMs / 2, retentionDays, signal });
  const at = (day: number) => day * dayMs + 3_600_000;

  function usage(day: number, fields: Partial<UsageRecord> = {}): UsageRecord {
    const who = { subject: 'ada', project: 'lab', deployment: 'model', path: ['model'], operation: 'chat' } as const;
    const amounts = { promptTokens: 10, completionTokens: 5, cost: 7, durationMs: 1 };
    return {
      id: randomUUID(),
      requestId: randomUUID(),
      atMs: at(day),
      ...who,
      outcome: 'ok',
      status: 200,
      ...amounts,
      ...fields,
    };
  }

  function audit(day: number, fields: Partial<AuditRecord> = {}): AuditRecord {
    const what = { action: 'consent.accepted', subject: 'ada', object: 'app', requestId: 'request', details: {} };
    return { id: randomUUID(), atMs: at(day), ...what, ...fields };
  }

  const inDays = (from: number, to: number) => ({ fromMs: from * dayMs, toMs: to * dayMs });
  const total = async (from: number, to: number, filter = {}) => {
    const [sum] = await open().sumUsage({ ...inDays(from, to), by: [], ...filter });
    return [sum?.calls, sum?.cost];
  };
  const list = (from: number, to: number) =>
    open().listCalls({ ...inDays(from, to), outcome: undefined, before: undefined, limit: 1000 });

  async function countTables(prefix: string): Promise<number> {
    const catalog = node.engine === 'SQLite' ? sql`sqlite_schema where type = 'table' and name` : sql`pg_tables where tablename`;
    const { rows } = await node.database.run((kysely) => sql`select 1 from ${catalog} like ${`${prefix}_2%`}`.execute(kysely));
    return rows.length;
  }

  it('hold the content of calls, sealed, from the first record until its retention ends', async () => {
    const seal = new Seal([new Secret('a secret of this test')]);
    const [one, two] = [node.database, node.otherDatabase].map((database) => new SqlCallContents(database, seal)) as [
      SqlCallContents,
      SqlCallContents,
    ];
    const content = { request: { messages: ['a question'] }, reply: null, isTruncated: false };
    const [old, recent] = [3, 2].map((age) => ({ id: randomUUID(), atMs: at(today - age), text: JSON.stringify(content) }));
    if (old === undefined || recent === undefined) throw new Error('there are two records');
    for (const store of [one, two]) await store.append([old, recent]);
    expect(await Promise.all([two.find(old), two.find(recent)])).toEqual([content, content]);
    expect([await two.find({ ...old, id: recent.id }), await two.find({ ...old, atMs: at(today) })]).toEqual([
      undefined,
      undefined,
    ]);
    expect(await countTables('call_contents')).toBe(2);
    await one.maintain({ nowMs: at(today), retentionDays: 2, signal });
    expect(await Promise.all([one.find(old), one.find(recent), two.find(recent)])).toEqual([undefined, content, content]);
    expect(await countTables('call_contents')).toBe(1);
    const other = new SqlCallContents(node.database, new Seal([new Secret('another secret of this test')]));
    await expect(other.find(recent)).rejects.toThrow('cannot be decrypted');
  });

  it('are removed completely after the retention, while their sums stay', async () => {
    const [one, two] = [open(), open(node.otherDatabase)];
    for (const journal of [one, two]) await maintain(journal, 10);
    const days = Array.from({ length: 8 }, (_, age) => today - age);
    await one.appendUsage(days.map((day) => usage(day)));
    await one.appendAudit([...days.map((day) => audit(day)), audit(today - 7, { id: 'r', action: 'deployment.rated' })]);
    expect(await total(today - 20, today + 1)).toEqual([8, 56]);
    const tables = await countTables('usage_records');
    await Promise.all([maintain(one, 4), maintain(two, 4)]);
    expect(await countTables('usage_records')).toBe(tables - 3);
    expect((await list(today - 20, today + 1)).map(({ atMs }) => Math.floor(atMs / dayMs))).toEqual(days.slice(0, 5));
    expect(await open().readAudit({ beforeMs: at(today + 1), limit: 100 })).toHaveLength(5);
    expect(await total(today - 20, today + 1)).toEqual([8, 56]);
    expect(await total(today - 7, today - 5)).toEqual([2, 14]);
    expect(await total(today - 7, today + 1, { project: 'lab' })).toEqual([8, 56]);
    // Reports by user need the records.
    expect(await total(today - 7, today + 1, { subject: 'ada' })).toEqual([5, 35]);
    await one.appendUsage([usage(today - 7)]);
    expect(await total(today - 20, today + 1)).toEqual([8, 56]);
  });

  it('can be dropped by another process that shares the database', async () => {
    const now = today + 200;
    const journals = [open(node.database, now), open(node.otherDatabase, now)] as [SqlJournal, SqlJournal];
    const [one, two] = journals;
    for (const journal of journals) await maintain(journal, 10, now);
    const days = Array.from({ length: 5 }, (_, age) => now - age);
    await one.appendUsage(days.map((day) => usage(day)));
    await one.appendAudit(days.map((day) => audit(day)));
    const range = inDays(now - 20, now + 1);
    const listWith = (journal: SqlJournal) => journal.listCalls({ ...range, outcome: undefined, before: undefined, limit: 100 });
    for (const journal of journals) {
      await maintain(journal, 10, now);
      expect(await listWith(journal)).toHaveLength(5);
    }
    await maintain(one, 2, now);
    expect(await listWith(two)).toHaveLength(3);
    expect(await two.readAudit({ beforeMs: at(now + 1), limit: 3 })).toHaveLength(3);
    expect(await two.sumUsage({ ...range, by: ['subject'] })).toMatchObject([{ calls: 3 }]);
    await maintain(two, 2, now);
  });

  it('are summed once by several nodes, and again after a late record', async () => {
    const first = today + 40;
    const now = today + 45;
    const nodes = [open(node.database, now), open(node.otherDatabase, now)];
    const inner = { path: ['app', 'model'], cost: 2, keyId: 'k', subject: 'bob' };
    await nodes[0]?.appendUsage([usage(first), usage(first, inner), usage(first + 1, { outcome: 'failed', session: 's' })]);
    const report = async () => {
      const query = inDays(first, now + 1);
      const journal = open(node.database, now);
      return [
        await journal.sumUsage({ ...query, by: ['day', 'deployment'] }),
        await journal.sumUsage({ ...query, by: ['project'] }),
        await journal.sumUsage({ ...query, by: ['subject', 'deployment'] }),
        await journal.sumUsage({ ...query, by: [], keyId: 'k' }),
        await journal.sumUsage({ ...query, by: [], session: 's' }),
        await journal.sumUsage({ ...query, fromMs: at(first), by: ['day'] }),
      ];
    };
    const fromRecords = await report();
    await Promise.all(nodes.map((journal) => maintain(journal, undefined, now)));
    expect(await report()).toEqual(fromRecords);
    const late = usage(first, { cost: 100 });
    await nodes[1]?.appendUsage([late, late]);
    await nodes[1]?.appendUsage([late]);
    const withLate = await report();
    expect(withLate[1]).toMatchObject([{ calls: 3, failedCalls: 1, cost: 116 }]);
    await Promise.all(nodes.map((journal) => maintain(journal, undefined, now)));
    expect(await report()).toEqual(withLate);
  });

  it('do not limit the last use of keys, which is written at most once a minute', async () => {
    const [key, other] = [randomUUID(), randomUUID()];
    const toUses = (uses: object) => new Map(Object.entries(uses).map(([id, ms]) => [id, at(today) + Number(ms)]));
    const read = async () => {
      const uses = await open().readKeyUses([key, other, 'unused']);
      return [key, other, 'unused'].map((id) => (uses.get(id) ?? 0) - at(today));
    };
    const journal = open();
    await journal.recordKeyUses(toUses({ [key]: 2, [other]: 5 }));
    await journal.recordKeyUses(toUses({ [key]: 30_000 }));
    expect((await read()).slice(0, 2)).toEqual([2, 5]);
    await open(node.otherDatabase).recordKeyUses(toUses({ [key]: 1, [other]: 70_000 }));
    await journal.recordKeyUses(toUses({ [key]: 60_002 }));
    expect((await read()).slice(0, 2)).toEqual([60_002, 70_000]);
    expect((await open().readKeyUses(['unused'])).size).toBe(0);
  });

  it('do not limit the number of keys whose uses are stored together', async () => {
    const keys = Array.from({ length: 40_000 }, () => randomUUID());
    const journal = open();
    await journal.recordKeyUses(new Map(keys.map((key) => [key, at(today)])));
    expect((await journal.readKeyUses(keys.slice(-2))).size).toBe(2);
  });

  it('are summed by month when all days of the month are summed', async () => {
    const date = new Date((today + 80) * dayMs);
    const month = Date.UTC(date.getUTCFullYear(), date.getUTCMonth()) / dayMs;
    const daysOfMonth = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1) / dayMs - month;
    const journal = open(node.database, month + 40);
    await journal.appendUsage([usage(month), usage(month + daysOfMonth - 1), usage(month + daysOfMonth)]);
    await maintain(journal, undefined, month + 40);
    const read = async () => {
      const { rows } = await node.database.run((kysely) =>
        sql<{
          calls: number;
        }>`select calls from usage_sums where level = 2 and period = ${date.getUTCFullYear() * 12 + date.getUTCMonth()}`.execute(
          kysely,
        ),
      );
      return rows.map(({ calls }) => Number(calls));
    };
    expect(await read()).toEqual([2]);
    expect(await total(month, month + 40)).toEqual([3, 21]);
    await journal.appendUsage([usage(month + 4)]);
    expect(await total(month - 3, month + 40)).toEqual([4, 28]);
    await maintain(journal, undefined, month + 40);
    expect([await read(), await total(month, month + daysOfMonth)]).toEqual([[3], [3, 21]]);
  });
});
