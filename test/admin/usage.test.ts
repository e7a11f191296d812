import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type AdminHouse, createUsageRecord, startAdminService } from './support.ts';

interface Usage {
  readonly from: string;
  readonly to: string;
  readonly by: readonly string[];
  readonly data: readonly Record<string, unknown>[];
  readonly total: Record<string, unknown>;
  readonly isCut: boolean;
}

let admin: AdminHouse;

beforeAll(async () => {
  admin = await startAdminService();
});

afterAll(() => admin[Symbol.asyncDispose]());

async function read(query: string, path = '/v1/admin/usage', key?: string): Promise<Usage> {
  const { status, json, text } = await admin.get(`${path}?${query}`, key);
  expect([status, text]).toEqual([200, expect.any(String)]);
  return json as Usage;
}

const march = 'from=2026-03-01&to=2026-03-31';

describe('usage', () => {
  beforeAll(async () => {
    await admin.journal.appendUsage([
      createUsageRecord('2026-03-01'),
      createUsageRecord('2026-03-01', { subject: 'bob', project: 'shop', outcome: 'failed', cost: 0 }),
      createUsageRecord('2026-03-31', { deployment: 'app', cost: 0, promptTokens: 30, completionTokens: 10 }),
      createUsageRecord('2026-03-31', { path: ['app', 'model'], cost: 4_500_000_000, promptTokens: 30, completionTokens: 10 }),
      createUsageRecord('2026-02-28'),
      createUsageRecord('2026-04-01'),
      createUsageRecord('2026-03-31', { outcome: 'refused', cost: 0, promptTokens: 0, completionTokens: 0 }),
    ]);
  });

  it('is grouped by day, in USD, from the first to the last requested day, with the total', async () => {
    expect(await read(march)).toEqual({
      object: 'list',
      from: '2026-03-01',
      to: '2026-03-31',
      by: ['day'],
      data: [
        { day: '2026-03-01', calls: 2, failedCalls: 1, refusedCalls: 0, promptTokens: 20, completionTokens: 10, cost: 1 },
        { day: '2026-03-31', calls: 2, failedCalls: 0, refusedCalls: 1, promptTokens: 30, completionTokens: 10, cost: 4.5 },
      ],
      total: { calls: 4, failedCalls: 1, refusedCalls: 1, promptTokens: 50, completionTokens: 20, cost: 5.5 },
      isCut: false,
    });
  });

  it('is grouped by key and by tags', async () => {
    const tags = { team: 'a', env: 'prod' };
    await admin.journal.appendUsage([
      createUsageRecord('2026-05-01', { keyId: 'one', tags, cost: 3_000_000_000 }),
      createUsageRecord('2026-05-01', { keyId: 'one', tags: { team: 'b' } }),
      createUsageRecord('2026-05-01', { cost: 2_000_000_000 }),
    ]);
    const may = 'from=2026-05-01&to=2026-05-31';
    const { by, data } = await read(`${may}&by=key,tag:team`);
    expect(by).toEqual(['key', 'tag:team']);
    expect(data.map(({ key, 'tag:team': team, cost }) => [key, team, cost])).toEqual([
      ['one', 'a', 3],
      [null, null, 2],
      ['one', 'b', 1],
    ]);
    const calls = await admin.get(`/v1/admin/calls?${may}&format=csv`);
    expect(calls.text).toContain('"team=a,env=prod"');
    for (const rejected of ['tag:', "tag:a'b", 'tag:a,tag:b,tag:c,tag:d,tag:e', 'tags'])
      expect((await admin.get(`/v1/admin/usage?by=${rejected}`)).status).toBe(400);
    expect((await admin.get('/v1/user/usage?by=tag:team')).status).toBe(400);
  });

  it('includes inner calls if it is grouped by deployment, while the total counts them once', async () => {
    const { data, total } = await read(`${march}&by=deployment`);
    expect(data).toEqual([
      { deployment: 'model', calls: 4, failedCalls: 1, refusedCalls: 1, promptTokens: 50, completionTokens: 20, cost: 5.5 },
      { deployment: 'app', calls: 1, failedCalls: 0, refusedCalls: 0, promptTokens: 30, completionTokens: 10, cost: 0 },
    ]);
    expect(total).toMatchObject({ calls: 4, promptTokens: 50 });
    const direct = await read(`${march}&by=deployment&direct=true`);
    expect(direct.data).toMatchObject([
      { deployment: 'model', calls: 3, promptTokens: 20, cost: 5.5 },
      { deployment: 'app', calls: 1, promptTokens: 30, cost: 0 },
    ]);
  });

  it('starts with the highest cost if it is grouped by user or project', async () => {
    const people = await read(`${march}&by=user`);
    expect(people.data.map(({ user, cost, calls }) => [user, cost, calls])).toEqual([
      ['ada', 5.5, 3],
      ['bob', 0, 1],
    ]);
    const projects = await read(`${march}&by=project`);
    expect(projects.data.map(({ project }) => project)).toEqual(['lab', 'shop']);
  });

  it('has a fixed order of groups: day, deployment, user', async () => {
    const { by, data } = await read(`${march}&by=user,day,deployment,day`);
    expect(by).toEqual(['day', 'deployment', 'user']);
    expect(data.map(({ day, deployment, user }) => `${day} ${deployment} ${user}`)).toEqual([
      '2026-03-01 model ada',
      '2026-03-01 model bob',
      '2026-03-31 app ada',
      '2026-03-31 model ada',
    ]);
  });

  it('is truncated at the limit, and the total still includes all calls', async () => {
    const { data, total, isCut } = await read(`${march}&by=user&limit=1`);
    expect([data.length, isCut, total.calls]).toEqual([1, true, 4]);
    expect((await read(`${march}&by=user&limit=2`)).isCut).toBe(false);
  });

  it('has no rows and a total of 0 if there are no calls', async () => {
    const { data, total } = await read('from=2020-01-01&to=2020-01-02');
    expect(data).toEqual([]);
    expect(total).toEqual({ calls: 0, failedCalls: 0, refusedCalls: 0, promptTokens: 0, completionTokens: 0, cost: 0 });
  });

  it('covers the last 30 days by default', async () => {
    const { from, to } = await read('');
    expect((Date.parse(to) - Date.parse(from)) / 86_400_000).toBe(29);
    expect(Math.abs(Date.now() - Date.parse(to))).toBeLessThan(2 * 86_400_000);
    expect((await read('to=2024-03-01')).from).toBe('2024-02-01');
  });

  it('is available to each user for their own calls only', async () => {
    const subject = 'key:user';
    await admin.journal.appendUsage([
      createUsageRecord('2026-03-02', { subject }),
      createUsageRecord('2026-03-02', { subject, deployment: 'app' }),
    ]);
    const { data, total } = await read(`${march}&by=day,deployment`, '/v1/user/usage', 'user-key');
    expect(data.map(({ deployment, calls }) => [deployment, calls])).toEqual([
      ['app', 1],
      ['model', 1],
    ]);
    expect(total).toMatchObject({ calls: 2, cost: 2 });
    const rejected = await admin.get('/v1/user/usage?by=user', 'user-key');
    expect(rejected.error).toMatchObject({ code: 'invalid_request', param: 'by' });
  });

  it.each([
    ['from=yesterday', 'from'],
    ['from=2026-02-30', 'from'],
    ['from=2026-3-1', 'from'],
    ['from=%2B275761-01-01', 'from'],
    ['to=2026-03-01T00:00:00Z', 'to'],
    ['from=2026-03-02&to=2026-03-01', 'from'],
    ['from=2025-01-01&to=2026-03-01', 'from'],
    ['from=2026-03-01&from=2026-03-02', 'from'],
    ['by=day,moon', 'by'],
    ['by=day,', 'by'],
    ['by=__proto__', 'by'],
    ['by=subject', 'by'],
    ['by=day&by=user', 'by'],
    ['limit=0', 'limit'],
    ['limit=10001', 'limit'],
    ['limit=1e3', 'limit'],
    ['limit=1;drop%20table%20usage_records', 'limit'],
  ])('rejects the query %s', async (query, param) => {
    const { status, error } = await admin.get(`/v1/admin/usage?${query}`);
    expect([status, error]).toEqual([400, expect.objectContaining({ code: 'invalid_request', param })]);
  });

  it('is never cached', async () => {
    for (const path of ['/v1/admin/usage', '/v1/admin/audit', '/v1/admin/state', '/v1/user/usage', '/v1/admin/usage?by=x'])
      expect((await admin.get(path)).headers['cache-control']).toBe('no-store');
  });
});

describe('a key without the administrator role', () => {
  beforeEach(() => admin.service.reload({ keys: { 'user-key': { project: 'user', roles: ['staff', 'Admin', 'admins'] } } }));

  it.each(['usage', 'usage?by=x', 'audit', 'audit?token=x', 'state'])(
    'cannot read %s, and its query is not validated',
    async (path) => {
      const { status, error } = await admin.get(`/v1/admin/${path}`, 'user-key');
      expect([status, error]).toEqual([
        403,
        { type: 'permission_error', code: 'access_denied', param: null, message: expect.stringContaining('role admin') },
      ]);
      expect((await admin.get(`/v1/admin/${path}`)).status).toBe(401);
    },
  );
});

describe('a hundred thousand call records', () => {
  it('are aggregated in less than a second of CPU time, without blocking the event loop', async () => {
    await using large = await startAdminService();
    fill(large.file, 100_000);
    for (const by of ['day', 'deployment,user', 'day,deployment,user']) {
      let ticks = 0;
      const timer = setInterval(() => {
        ticks += 1;
      }, 2);
      // CPU time of all threads of this process. Other processes do not affect it.
      const before = process.cpuUsage();
      const { status, json } = await large.get(`/v1/admin/usage?from=2026-03-01&to=2026-03-30&by=${by}`);
      const { user, system } = process.cpuUsage(before);
      clearInterval(timer);
      expect([status, (json as Usage).total.calls]).toEqual([200, 100_000]);
      expect((user + system) / 1000).toBeLessThan(1000);
      expect(ticks).toBeGreaterThan(3);
    }
  });
});

function fill(file: string, count: number): void {
  const database = new DatabaseSync(file);
  database.exec(`
    with recursive n(i) as (select 0 union all select i + 1 from n where i < ${count - 1})
    insert into usage_records select
      'call-' || i, 'request-' || i, ${Date.parse('2026-03-01')} + i * ${Math.floor((30 * 86_400_000) / count)}, 'user-' || (i % 300), 'project',
      'model-' || (i % 10), '["model"]', 'chat', 'ok', 200, 100, 50, 1000, 12.5, null, null, null, null, null, null, null
    from n`);
  database.close();
}
