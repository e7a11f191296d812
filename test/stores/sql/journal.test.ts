import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { AuditRecord, UsageRecord } from '#domain/usage/journal.ts';
import { SqlJournal } from '#stores/sql/journal/journal.ts';
import { describeOnEach } from '#test/sql-engines.ts';

const midnight = Date.UTC(2026, 10, 21);
const all = ['day', 'deployment', 'subject'] as const;
const always = { fromMs: Number.NEGATIVE_INFINITY, toMs: Number.POSITIVE_INFINITY, by: all };

function usage(subject: string, fields: Partial<UsageRecord> = {}): UsageRecord {
  return {
    id: randomUUID(),
    requestId: randomUUID(),
    atMs: midnight,
    subject,
    project: 'project',
    deployment: 'model',
    path: ['app', 'model'],
    operation: 'chat',
    outcome: 'ok',
    status: 200,
    promptTokens: 10,
    completionTokens: 5,
    cost: 1_000,
    durationMs: 12.5,
    ...fields,
  };
}

function audit(fields: Partial<AuditRecord> = {}): AuditRecord {
  const details = { isKnown: true, count: 3, reason: 'a reason', ['__proto__']: 'a name' };
  const what = { action: 'consent.accepted', subject: 'user', object: 'app', requestId: 'request' };
  return { id: randomUUID(), atMs: midnight, ...what, details, ...fields };
}

describeOnEach('journal', (node) => {
  const journal = () => new SqlJournal(node.database);

  it('sums usage by day, deployment, and subject, sorted in this order', async () => {
    const [one, two] = [`${randomUUID()} A`, `${randomUUID()} B`];
    await journal().appendUsage([
      usage(one),
      usage(one, { atMs: midnight + 86_399_999, cost: 2_000.4 }),
      usage(one, { atMs: midnight + 86_400_000 }),
      usage(one, { atMs: midnight - 1 }),
      usage(one, { deployment: 'Model', outcome: 'failed', promptTokens: 0, completionTokens: 0, cost: 0 }),
      usage(two),
    ]);
    const sum = {
      deployment: 'model',
      subject: one,
      calls: 1,
      failedCalls: 0,
      refusedCalls: 0,
      promptTokens: 10,
      completionTokens: 5,
      cost: 1_000,
    };
    expect(await journal().sumUsage({ ...always, subject: one })).toEqual([
      { ...sum, day: '2026-11-20' },
      { ...sum, day: '2026-11-21', deployment: 'Model', failedCalls: 1, promptTokens: 0, completionTokens: 0, cost: 0 },
      { ...sum, day: '2026-11-21', calls: 2, promptTokens: 20, completionTokens: 10, cost: 3_000 },
      { ...sum, day: '2026-11-22' },
    ]);
    const sums = await new SqlJournal(node.otherDatabase).sumUsage({ ...always, subject: undefined });
    expect(sums.filter(({ subject }) => [one, two].includes(subject))).toHaveLength(5);
    expect(sums).toEqual(sums.toSorted((a, b) => Buffer.compare(toOrder(a), toOrder(b))));
  });

  it('stores tags, and totals by key and by tag', async () => {
    const [subject, tag] = [randomUUID(), `${'t'.repeat(60)}.${'/@'}`];
    await journal().appendUsage([
      usage(subject, { path: ['a'], cost: 1, keyId: 'one', tags: { [tag]: 'x', '1': 'y"\'' } }),
      usage(subject, { path: ['a'], cost: 4, keyId: 'one', tags: { [tag]: 'x' } }),
      usage(subject, { path: ['a'], cost: 2 }),
    ]);
    const by = ['keyId', `tag:${tag}`, 'tag:1'] as const;
    const sums = await journal().sumUsage({ ...always, subject, by });
    expect(sums.map((sum) => [...by.map((name) => sum[name]), sum.cost])).toEqual([
      ['one', 'x', null, 4],
      [null, null, null, 2],
      ['one', 'x', 'y"\'', 1],
    ]);
    const calls = await journal().listCalls({
      fromMs: 0,
      toMs: midnight + 1,
      subject,
      outcome: undefined,
      before: undefined,
      limit: 9,
    });
    expect(calls.map(({ tags }) => tags).filter((tags) => tags !== undefined)).toHaveLength(2);
  });

  it('lists calls with a tag that no reader of JSON expects', async () => {
    const subject = randomUUID();
    await journal().appendUsage([usage(subject, { tags: Object.fromEntries([['__proto__', 'x']]) })]);
    const [call] = await journal().listCalls({ ...always, subject, outcome: undefined, before: undefined, limit: 1 });
    expect(JSON.stringify(call?.tags)).toBe('{"__proto__":"x"}');
  });

  it('totals by any key, sorted by cost without days, up to the limit', async () => {
    const subject = randomUUID();
    await journal().appendUsage([
      usage(subject, { deployment: 'a', path: ['a'], project: 'x', cost: 1 }),
      usage(subject, { deployment: 'b', path: ['b'], project: 'y', cost: 5 }),
      usage(subject, { deployment: 'c', path: ['c'], project: 'y', cost: 1, atMs: midnight - 1 }),
    ]);
    const filter = { ...always, subject };
    const byDeployment = await journal().sumUsage({ ...filter, by: ['deployment'] });
    expect(byDeployment.map(({ deployment }) => deployment)).toEqual(['b', 'a', 'c']);
    const byProject = await journal().sumUsage({ ...filter, by: ['project', 'subject'] });
    expect(byProject.map(({ project, cost }) => [project, cost])).toEqual([
      ['y', 6],
      ['x', 1],
    ]);
    const byDay = await journal().sumUsage({ ...filter, by: ['day'], limit: 1 });
    expect(byDay).toEqual([
      { day: '2026-11-20', calls: 1, failedCalls: 0, refusedCalls: 0, promptTokens: 10, completionTokens: 5, cost: 1 },
    ]);
    expect(await journal().sumUsage({ ...filter, by: [] })).toMatchObject([{ calls: 3, cost: 7 }]);
    expect(await journal().sumUsage({ ...filter, subject: `${subject}x`, by: [] })).toMatchObject([{ calls: 0, cost: 0 }]);
  });

  it('counts inner calls separately only by deployment, and all costs', async () => {
    const subject = randomUUID();
    const unusualRecord = 'a","b\\';
    await journal().appendUsage([
      usage(subject, { deployment: unusualRecord, path: [unusualRecord], cost: 0 }),
      usage(subject, { deployment: 'model', path: [unusualRecord, 'model'], cost: 7 }),
    ]);
    const filter = { ...always, subject };
    expect(await journal().sumUsage({ ...filter, by: ['day'] })).toMatchObject([{ calls: 1, promptTokens: 10, cost: 7 }]);
    expect(await journal().sumUsage({ ...filter, by: ['deployment'] })).toMatchObject([
      { deployment: 'model', calls: 1, promptTokens: 10 },
      { deployment: unusualRecord, calls: 1, promptTokens: 10 },
    ]);
  });

  it('sums usage from a start time up to, but not including, an end time', async () => {
    const subject = randomUUID();
    await journal().appendUsage([0, 1, 2, 3].map((atMs) => usage(subject, { atMs: midnight + atMs })));
    const calls = async (fromMs: number, toMs: number) =>
      (await journal().sumUsage({ fromMs: midnight + fromMs, toMs: midnight + toMs, subject, by: all }))[0]?.calls;
    expect([await calls(1, 3), await calls(0.5, 2.5), await calls(0, 9), await calls(2, 2)]).toEqual([2, 2, 4, undefined]);
    expect(await journal().sumUsage({ ...always, subject: `${subject}x` })).toEqual([]);
  });

  it('counts a record once if it is appended several times on several nodes', async () => {
    const subject = randomUUID();
    const records = Array.from({ length: 7 }, () => usage(subject));
    const changed = records.map((record) => ({ ...record, cost: 9 }));
    await journal().appendUsage([...records, ...records]);
    await Promise.all([journal().appendUsage(changed), new SqlJournal(node.otherDatabase).appendUsage(records)]);
    expect(await journal().sumUsage({ ...always, subject })).toMatchObject([{ calls: 7, cost: 7_000 }]);
    await journal().appendUsage([]);
  });

  it('accepts batches of any size', async () => {
    const subject = randomUUID();
    await journal().appendUsage(Array.from({ length: 2_345 }, () => usage(subject)));
    expect(await journal().sumUsage({ ...always, subject })).toMatchObject([{ calls: 2_345, promptTokens: 23_450 }]);
  });

  it('stores a batch with unusual texts and numbers', async () => {
    const subject = randomUUID();
    const unusualRecord = { requestId: 'a\0b', deployment: '\ud800', path: ['\0', '\udfff'], project: 'x'.repeat(100_000) };
    const numbers = { cost: Number.POSITIVE_INFINITY, promptTokens: Number.NaN, durationMs: Number.NaN };
    await journal().appendUsage([usage(subject), usage(subject, { ...unusualRecord, ...numbers, cost: 2 ** 80 })]);
    expect(await journal().sumUsage({ ...always, subject })).toMatchObject([
      { deployment: 'model', calls: 1 },
      { deployment: '\ufffd', calls: 1, cost: 0, promptTokens: 0 },
    ]);
    await journal().appendAudit([audit({ atMs: 5, subject: '\0', object: '\ud800' })]);
    const [read] = await journal().readAudit({ beforeMs: 6, limit: 1 });
    expect(read).toMatchObject({ subject: '\ufffd', object: '\ufffd' });
  });

  it('returns the audit log newest first, page by page', async () => {
    const begin = midnight + 86_400_000 * 7;
    const records = [0, 1, 1, 1, 2, 3].map((atMs, index) => audit({ id: `${randomUUID()} ${index}`, atMs: begin + atMs }));
    const bare = audit({ atMs: begin + 4, subject: undefined, object: undefined, requestId: undefined, details: {} });
    await journal().appendAudit([...records, bare]);
    await journal().appendAudit(records);
    const read: AuditRecord[] = [];
    let before: { beforeMs: number; beforeId?: string } = { beforeMs: Number.POSITIVE_INFINITY };
    while (read.length < records.length + 1) {
      const page = await journal().readAudit({ ...before, limit: 2 });
      read.push(...page);
      const last = page.at(-1);
      before = { beforeMs: last?.atMs ?? 0, beforeId: last?.id ?? '' };
    }
    const newestFirst = records.toSorted((one, another) => another.atMs - one.atMs || (one.id < another.id ? 1 : -1));
    expect(read.slice(0, 7)).toEqual([bare, ...newestFirst]);
    expect(await journal().readAudit({ beforeMs: begin + 1, limit: 1 })).toEqual([records[0]]);
  });

  it('replaces a rating with a later rating that has the same ID, and no other record', async () => {
    const begin = midnight + 86_400_000 * 11;
    const [rated, other] = [randomUUID(), randomUUID()];
    const rating = (atMs: number, rate: number) =>
      audit({ id: rated, action: 'deployment.rated', atMs: begin + atMs, details: { rate } });
    await journal().appendAudit([rating(1, 1), rating(2, 2), audit({ id: other, atMs: begin, details: { nth: 1 } })]);
    await journal().appendAudit([rating(4, 4), rating(3, 3)]);
    await journal().appendAudit([rating(1, 1), audit({ id: other, atMs: begin + 9, details: { nth: 2 } })]);
    const read = await journal().readAudit({ beforeMs: begin + 10, limit: 3 });
    expect(read.filter(({ atMs }) => atMs >= begin).map(({ id, atMs, details }) => [id, atMs - begin, details])).toEqual([
      [rated, 4, { rate: 4 }],
      [other, 0, { nth: 1 }],
    ]);
  });

  it('returns audit records of one action or of a family of actions', async () => {
    const begin = midnight + 86_400_000 * 9;
    const actions = ['tool.run', 'toolbox.opened', 'tool.stopped', 'tool'];
    await journal().appendAudit(actions.map((action, index) => audit({ action, atMs: begin + index })));
    const read = async (kind: string, limit = 9) =>
      (await journal().readAudit({ beforeMs: begin + 9, kind, limit })).map(({ action }) => action);
    expect(await read('tool')).toEqual(['tool', 'tool.stopped', 'tool.run']);
    expect(await read('tool.run')).toEqual(['tool.run']);
    expect(await read('tool', 1)).toEqual(['tool']);
    expect([await read('too'), await read('tool%'), await read('TOOL.RUN')]).toEqual([[], [], []]);
  });

  it('lists calls newest first, after a given call', async () => {
    const subject = randomUUID();
    const [a, b, c] = [1, 2, 2].map((ms, nth) => usage(subject, { id: `${subject} ${nth}`, atMs: midnight + ms, cost: 2 ** 40 }));
    const unusualRecord = usage(subject, { id: `${subject} 9`, outcome: 'left', path: ['say "hi"', 'model'] });
    await journal().appendUsage([a, b, c, unusualRecord].filter((each) => each !== undefined));
    const none = { deployment: undefined, project: undefined, outcome: undefined, before: undefined };
    const query = { ...none, fromMs: Number.NEGATIVE_INFINITY, toMs: Number.POSITIVE_INFINITY, subject, limit: 10 };
    expect(await journal().listCalls(query)).toEqual([c, b, a, unusualRecord]);
    expect(await journal().listCalls({ ...query, before: c })).toEqual([b, a, unusualRecord]);
    expect(await journal().listCalls({ ...query, fromMs: midnight + 0.5, toMs: midnight + 2, limit: 1 })).toEqual([a]);
    expect(await journal().listCalls({ ...query, outcome: 'left', deployment: 'model', project: 'project' })).toEqual([
      unusualRecord,
    ]);
    expect(await journal().listCalls({ ...query, project: 'other' })).toEqual([]);
  });
});

function toOrder({ day, deployment, subject }: { day: string; deployment: string; subject: string }): Buffer {
  return Buffer.from(`${day}\0${deployment}\0${subject}`);
}
