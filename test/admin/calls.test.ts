import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AdminHouse, createUsageRecord, startAdminService } from './support.ts';

interface Calls {
  readonly data: readonly Record<string, unknown>[];
  readonly nextToken: string | null;
}

let admin: AdminHouse;
/** Cache usage, service tier, and session that the upstream reports. */
const reportedFields = {
  cacheReadTokens: 4,
  cacheWriteTokens: 3,
  cacheWrite1hTokens: 2,
  serviceTier: 'flex',
  session: 'session-1',
};

beforeAll(async () => {
  admin = await startAdminService();
  await admin.journal.appendUsage([
    createUsageRecord('2026-03-01', { id: '1', requestId: 'first' }),
    createUsageRecord('2026-03-02', { id: '2', subject: 'key:user', project: 'shop', outcome: 'failed', status: 502, cost: 0 }),
    createUsageRecord('2026-03-03', { id: '3', deployment: 'app', subject: 'key:user', cost: 0 }),
    createUsageRecord('2026-03-03', {
      id: '4',
      path: ['app', 'model'],
      subject: 'key:user',
      cost: 4_500_000_000,
      ...reportedFields,
    }),
    createUsageRecord('2026-03-03', { id: '5', project: '', outcome: 'refused', status: 429 }),
    createUsageRecord('2026-02-28', { id: '6' }),
    createUsageRecord('2026-04-01', { id: '7' }),
  ]);
});

afterAll(() => admin[Symbol.asyncDispose]());

const march = 'from=2026-03-01&to=2026-03-31';

async function read(query: string, path = '/v1/admin/calls', key?: string): Promise<Calls> {
  const { status, json, headers } = await admin.get(`${path}?${march}&${query}`, key);
  expect([status, headers['cache-control']]).toEqual([200, 'no-store']);
  return json as Calls;
}

async function listIds(query: string, path?: string, key?: string): Promise<string> {
  return (await read(query, path, key)).data.map(({ id }) => id).join('');
}

describe('call records', () => {
  it('contain usage, and are listed by day range, newest first', async () => {
    const { data, nextToken } = await read('');
    expect([data.map(({ id }) => id).join(''), nextToken]).toEqual(['54321', null]);
    expect(data.at(-1)).toEqual({
      ...{ id: '1', at: Date.parse('2026-03-01T12:00:00Z'), requestId: 'first', user: 'ada', project: 'lab' },
      ...{ deployment: 'model', path: ['model'], operation: 'chat', outcome: 'ok', status: 200 },
      ...{ promptTokens: 10, completionTokens: 5, cost: 1, durationMs: 1 },
    });
    expect(data[1]).toMatchObject({ path: ['app', 'model'], cost: 4.5, ...reportedFields });
  });

  it('can be filtered by deployment, user, project, outcome, and status', async () => {
    expect(await listIds('deployment=model')).toBe('5421');
    expect(await listIds('user=key:user')).toBe('432');
    expect([await listIds('project=shop'), await listIds('project=lab'), await listIds('project=')]).toEqual(['2', '431', '5']);
    expect([await listIds('outcome=failed'), await listIds('outcome=refused'), await listIds('outcome=ok')]).toEqual([
      '2',
      '5',
      '431',
    ]);
    expect(await listIds('deployment=model&user=key:user&outcome=ok')).toBe('4');
    expect([await listIds('status=200'), await listIds('status=429'), await listIds('status=502')]).toEqual(['431', '5', '2']);
    const { error } = await admin.get('/v1/admin/calls?status=9999');
    expect(error).toMatchObject({ code: 'invalid_request', param: 'status' });
  });

  it('are paginated without skipping calls of the same moment', async () => {
    const pages: string[] = [];
    for (let token: string | null = ''; token !== null; ) {
      const page: Calls = await read(`limit=2&token=${token}`);
      pages.push(page.data.map(({ id }) => id).join(''));
      token = page.nextToken;
    }
    expect(pages).toEqual(['54', '32', '1']);
  });

  it('are available to each user for their own calls only, even if the query names another user', async () => {
    const listOwnIds = (query: string) => listIds(query, '/v1/user/calls', 'user-key');
    expect([
      await listOwnIds(''),
      await listOwnIds('user=ada'),
      await listOwnIds('project=lab'),
      await listOwnIds('outcome=failed'),
    ]).toEqual(['432', '432', '432', '2']);
    const denied = await admin.get('/v1/admin/calls', 'user-key');
    expect([denied.status, denied.error?.code]).toEqual([403, 'access_denied']);
  });

  it.each([
    ['outcome=good', 'outcome'],
    ['token=abc', 'token'],
    ['limit=501', 'limit'],
    ['deployment=a&deployment=b', 'deployment'],
    ['project=a&project=b', 'project'],
    ['from=2026-02-30', 'from'],
  ])('cannot be queried with %s', async (query, param) => {
    const { status, error } = await admin.get(`/v1/admin/calls?${query}`);
    expect([status, error]).toEqual([400, expect.objectContaining({ code: 'invalid_request', param })]);
  });
});
