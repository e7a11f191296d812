import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '#base/time/clock.ts';
import { type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import type { TestService } from '#test/start-service.ts';
import { type Cluster, call, getError, read, send, startCluster, until } from '../admin/entries-cluster.ts';
import { replyWithUsage } from './support.ts';

let now = Date.parse('2026-07-15T10:20:30.400Z');
const clock = { ...systemClock, epochMs: () => now };

const admin = { project: 'office', role: 'admin' };
const keys = {
  'admin-key': admin,
  'auditor-key': { project: 'audit', role: 'auditor' },
  one: { project: 'search', key: 'one', roles: ['staff', 'default'] },
  two: { project: 'search', key: 'two' },
  narrow: { project: 'wide', key: 'narrow', costLimit: { day: 0.05 } },
  owner: { project: 'leads', key: 'owner-key', roles: ['staff', 'scim'] },
  capped: { project: 'capped', key: 'capped' },
  free: { project: 'free', key: 'free' },
  'a-secret-name': { project: 'plain', totals: { requestDay: 3 } },
};
const projects = {
  search: {
    limits: { m: { requestDay: 3 }, '*': { requestDay: 5 } },
    totals: { day: 1000 },
    costLimit: { month: 0.1, year: 5 },
    reset: { dayOfMonth: 16, timeZone: 'Europe/Zurich' },
    owners: ['key:leads'],
  },
};
const users = { 'key:capped': { costLimit: { year: 0.02 } } };
const roles = { default: { costLimit: { month: 50 } } };

let cluster: Cluster;
let node: TestService;
let upstream: ScriptedUpstream;

/** Each call uses 10 tokens, and costs 0.01 USD. */
beforeAll(async () => {
  upstream = await startScriptedUpstream(replyWithUsage(6, 4));
  const upstreams = [{ endpoint: upstream.endpoint }];
  const models = {
    m: { upstreams, pricing: { prompt: 0.001, completion: 0.001 } },
    n: { upstreams, pricing: { prompt: 0.001, completion: 0.001 } },
  };
  cluster = await startCluster({ models, keys, projects, users, roles }, { clock });
  [node] = cluster.nodes;
});
afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await upstream.close();
});

const status = async (deployment: string, key: string): Promise<number> => (await call(node, deployment, key)).status;
const usage = async (path: string) => read(await send(node, 'GET', `${path}/usage`)).data;
const findUsage = async (path: string, window: string) => (await usage(path)).find((item) => item.window === window);
/** Usage is counted shortly after the response. */
const untilUsed = (path: string, window: string, used: number) =>
  until(async () => Number((await findUsage(path, window))?.used ?? 0) === used);
const zurich = (day: string) => Date.parse(`${day}T00:00:00+02:00`);

describe('limits of a project', () => {
  it('count all keys together, by deployment and over all deployments', async () => {
    expect([await status('m', 'one'), await status('m', 'two'), await status('m', 'one')]).toEqual([200, 200, 200]);
    const rejected = await call(node, 'm', 'two');
    expect([rejected.status, rejected.error.code]).toEqual([429, 'request_limit_exceeded']);
    expect(rejected.error.message).toBe(
      'The limit of your project search, 3 requests per day on m, is used up (3 of 3). It resets in 11h39m30s, at 2026-07-15T22:00:00Z.',
    );
    expect(JSON.parse(rejected.text)).toMatchObject({
      error: { limit: { of: 'project:search', window: 'requests.day:m', resetsAt: zurich('2026-07-16') } },
    });
    expect(await status('n', 'two')).toBe(200);
    await untilUsed('projects/search', 'cost.month', 0.04);
    expect(await usage('projects/search')).toEqual([
      { window: 'tokens.day', limit: 1000, used: 40, remaining: 960, resetsAt: zurich('2026-07-16') },
      { window: 'cost.month', limit: 0.1, used: 0.04, remaining: 0.06, resetsAt: zurich('2026-07-16') },
      { window: 'cost.year', limit: 5, used: 0.04, remaining: 4.96, resetsAt: Date.parse('2027-01-16T00:00:00+01:00') },
      { window: 'requests.day:m', limit: 3, used: 3, remaining: 0, resetsAt: zurich('2026-07-16') },
      { window: 'requests.day:n', limit: 5, used: 1, remaining: 4, resetsAt: zurich('2026-07-16') },
    ]);
  });

  it('are listed for the caller, separately from the windows of its roles', async () => {
    const { json } = await node.sendRequest({ method: 'GET', path: '/v1/deployments/n/limits', headers: { 'api-key': 'two' } });
    expect(json).toMatchObject({
      monthCostStats: { total: 50, used: 0.04 },
      dayRequestStats: { total: null },
      scopes: [
        { of: 'project:search', window: 'requests.day:n', limit: 5, used: 1 },
        { of: 'project:search', window: 'tokens.day', used: 40 },
        { of: 'project:search', window: 'cost.month', used: 0.04, remaining: 0.06 },
        { of: 'project:search', window: 'cost.year' },
      ],
    });
    const other = await node.sendRequest({ method: 'GET', path: '/v1/deployments/n/limits', headers: { 'api-key': 'free' } });
    expect(other.json).not.toHaveProperty('scopes');
  });

  it('start new windows on the reset day in the time zone of the project', async () => {
    now = Date.parse('2026-07-15T21:59:59.999Z');
    expect(await status('m', 'one')).toBe(429);
    now += 1;
    expect(await status('m', 'one')).toBe(200);
    await untilUsed('projects/search', 'cost.month', 0.01);
    expect(await findUsage('projects/search', 'cost.month')).toMatchObject({ resetsAt: zurich('2026-08-16') });
    expect(await findUsage('projects/search', 'cost.year')).toMatchObject({ used: 0.05 });
  });

  it('start new windows after a reset, which can be undone', async () => {
    const done = read(await send(node, 'POST', 'projects/search/reset'));
    expect(done).toMatchObject({ of: 'project:search', at: Date.parse('2026-07-15T22:00:00.000Z') });
    expect(await usage('projects/search')).toMatchObject([{ used: 0 }, { used: 0 }, { used: 0, remaining: 5 }]);
    expect(cluster.audited.at(-1)).toMatchObject({ action: 'entry.created', object: 'limit-resets/project:search' });
    expect(read(await send(node, 'GET', 'changes?limit=1')).data).toMatchObject([{ action: 'reset' }]);
    expect((await send(node, 'POST', `changes/${done.change}/rollback`)).status).toBe(200);
    expect(await findUsage('projects/search', 'cost.year')).toMatchObject({ used: 0.05 });
    expect(getError(await send(node, 'POST', 'projects/none/reset')).code).toBe('entry_not_found');
  });
});

describe('limits of a key', () => {
  it('apply to the key alone, and survive its rotation', async () => {
    const created = read(
      await send(node, 'POST', 'keys', { project: 'ci', limits: { m: { requestDay: 2 } }, costLimit: { month: 1 } }),
    );
    const { id, key } = created as never as { id: string; key: string };
    expect([await status('m', key), await status('m', key), await status('m', key)]).toEqual([200, 200, 429]);
    expect((await call(node, 'm', key)).error.message).toMatch(
      `The limit of your key ${id}, 2 requests per day on m, is used up`,
    );
    await untilUsed(`keys/${id}`, 'cost.month', 0.02);
    const rotated = read(await send(node, 'POST', `keys/${id}/rotate`, {})) as never as { key: string };
    expect(await status('m', rotated.key)).toBe(429);
    expect((await send(node, 'POST', `keys/${id}/reset`)).status).toBe(200);
    expect(await status('m', rotated.key)).toBe(200);
  });

  it('apply to keys in configuration files, even if the name of the key is its secret', async () => {
    for (let index = 0; index < 3; index += 1) expect(await status('n', 'a-secret-name')).toBe(200);
    const rejected = await call(node, 'n', 'a-secret-name');
    expect(rejected.error.message).toMatch(/^The limit of your key, 3 requests per day, is used up/);
    expect(rejected.text).not.toContain('digest');
    const number = Object.keys(keys).indexOf('a-secret-name') + 1;
    expect(await usage(`keys/${number}`)).toMatchObject([{ window: 'requests.day', used: 3 }]);
    // A reset with the secret would store the secret as the ID of an entry.
    for (const id of [number, 'a-secret-name']) expect(getError(await send(node, 'POST', `keys/${id}/reset`)).status).toBe(400);
  });
});

describe('limits of a user', () => {
  it('apply in addition to the limits of the roles, and are reset together with these', async () => {
    expect([await status('m', 'capped'), await status('m', 'capped')]).toEqual([200, 200]);
    await untilUsed('users/key%3Acapped', 'cost.year', 0.02);
    expect((await call(node, 'm', 'capped')).error).toMatchObject({
      code: 'cost_limit_exceeded',
      message: expect.stringMatching(/^The limit of your user, 0.02 USD per year, is used up \(0.02 of 0.02\)/),
    });
    const readRoleUsage = async () => read(await send(node, 'GET', 'users/key%3Acapped/usage?role=default')).data;
    expect(await readRoleUsage()).toMatchObject([{ window: 'cost.month', limit: 50, used: 0.02 }]);
    expect((await send(node, 'POST', 'users/key%3Acapped/reset')).status).toBe(200);
    expect(await readRoleUsage()).toMatchObject([{ used: 0 }]);
    expect(await status('m', 'capped')).toBe(200);
  });

  it('deny access if they are 0', async () => {
    await send(node, 'PUT', 'users/key%3Afree', { limits: { m: { day: 0 } } });
    expect(await status('n', 'free')).toBe(200);
    expect((await call(node, 'm', 'free')).error.message).toBe(
      'Your user does not allow any use of "m": its limit of tokens per day is 0 or less.',
    );
  });
});

describe('an owner of a project', () => {
  const ownerHeaders = { 'api-key': 'owner-key' };

  it('reads the usage of the project only', async () => {
    expect((await send(node, 'GET', 'projects/search/usage', undefined, ownerHeaders)).status).toBe(200);
    expect((await send(node, 'GET', 'usage?project=search', undefined, ownerHeaders)).status).toBe(200);
    for (const path of [
      'projects/other/usage',
      'usage?project=other',
      'usage',
      'usage?kind=rate&project=search',
      'projects/search',
    ])
      expect((await send(node, 'GET', path, undefined, ownerHeaders)).status, path).toBe(403);
    expect((await send(node, 'POST', 'projects/search/reset', undefined, ownerHeaders)).status).toBe(403);
  });

  it('creates keys in the project, with its own roles', async () => {
    const create = (body: object) => send(node, 'POST', 'keys', body, ownerHeaders);
    const created = await create({ project: 'search', roles: ['staff'], costLimit: { day: 1 } });
    expect(created.status).toBe(201);
    expect(await status('n', String(read(created).key))).toBe(200);
    for (const body of [
      { project: 'other', roles: ['staff'] },
      { project: 'search' },
      { project: 'search', roles: [] },
      { project: 'search', roles: ['staff', 'admin'] },
      { project: 'search', roles: ['scim'] },
    ])
      expect(getError(await create(body)), JSON.stringify(body)).toMatchObject({ status: 403, code: 'access_denied' });
  });
});

describe('a project at run time', () => {
  it('is an entry like any other, and is not deleted while keys need it', async () => {
    expect((await send(node, 'PUT', 'projects/lab', { costLimit: { month: 1 }, tags: { team: 'lab' } })).status).toBe(201);
    await until(async () => (await send(cluster.nodes[1], 'GET', 'projects/lab/usage')).status === 200);
    await send(node, 'PUT', 'keys/lab', { project: 'lab', key: 'a-secret-of-the-lab' });
    expect(getError(await send(node, 'DELETE', 'projects/lab'))).toMatchObject({ status: 409, code: 'in_use' });
    expect(read(await send(node, 'GET', 'export'))).toMatchObject({ projects: { lab: { costLimit: { month: 1 } } } });
    expect((await send(node, 'DELETE', 'projects/lab?force=true')).status).toBe(204);
    expect(await status('n', 'a-secret-of-the-lab')).toBe(200);
  });

  it.each([
    [{ reset: { timeZone: 'Mars/Olympus' } }, 'projects.x.reset.timeZone'],
    [{ reset: { dayOfMonth: 32 } }, 'projects.x.reset.dayOfMonth'],
    [{ reset: { month: 0 } }, 'projects.x.reset.month'],
    [{ costLimit: { decade: 1 } }, 'projects.x.costLimit.decade'],
    [{ tags: { 'a,b': 'c' } }, 'projects.x.tags'],
    [{ tags: { a: 'c,d' } }, 'projects.x.tags.a'],
  ])('rejects %j with the path', async (entry, path) => {
    expect(getError(await send(node, 'PUT', 'projects/x', entry))).toMatchObject({ status: 400, param: path });
  });

  it('rejects a reset of an unknown kind', async () => {
    const at = { at: '2026-07-15T00:00:00Z' };
    expect(getError(await send(node, 'PUT', 'limit-resets/team', at)).param).toBe('limitResets.team');
  });
});
