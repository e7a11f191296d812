import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AdminHouse, createUsageRecord, startAdminService } from './support.ts';

let admin: AdminHouse;
const march = 'from=2026-03-01&to=2026-03-31';

beforeAll(async () => {
  admin = await startAdminService();
  await admin.journal.appendUsage([
    createUsageRecord('2026-03-01', { keyId: 'key-1', requestId: 'request-1', session: 'session-1' }),
    createUsageRecord('2026-03-02', { subject: 'bob', project: 'shop', requestId: 'request-2' }),
    createUsageRecord('2026-03-03', { deployment: 'other', subject: '=1+1,"x"', path: ['app', 'other'] }),
  ]);
});
afterAll(() => admin[Symbol.asyncDispose]());

const paths = ['/v1/admin/usage', '/v1/admin/calls'];

describe('usage sums and call records', () => {
  it.each(paths)('reject a parameter that %s does not have', async (path) => {
    const { status, error } = await admin.get(`${path}?${march}&usr=ada`);
    expect([status, error.code]).toEqual([400, 'invalid_request']);
    expect(error.message).toMatch(/^usr is not a parameter of this endpoint\. Its parameters are from, to, /);
  });

  it('reject a parameter of an endpoint without parameters', async () => {
    const { error } = await admin.get('/v1/admin/health?node=x');
    expect(error.message).toBe('node is not a parameter of this endpoint. It has no parameters.');
  });

  it.each([
    ['user=bob', 1],
    ['key=key-1', 1],
    ['project=lab', 2],
    ['deployment=other', 1],
    ['requestId=request-2', 1],
    ['session=session-1', 1],
    ['session=session-1&user=bob', 0],
    ['requestId=request-2&user=ada', 0],
    ['key=gone', 0],
  ])('are filtered by %s', async (filter, count) => {
    const calls = (await admin.get(`/v1/admin/calls?${march}&${filter}`)).json as { data: object[] };
    expect(calls.data).toHaveLength(count);
    const sums = (await admin.get(`/v1/admin/usage?${march}&by=user&${filter}`)).json as { total: { cost: number } };
    expect(sums.total.cost).toBe(count);
  });

  it('include inner calls if the query names the deployment', async () => {
    const { json } = await admin.get(`/v1/admin/usage?${march}&deployment=other`);
    expect((json as { total: object }).total).toMatchObject({ calls: 1, promptTokens: 10 });
  });

  it('return CSV with names that cannot act as formulas', async () => {
    const sums = await admin.get(`/v1/admin/usage?${march}&by=user&deployment=other&format=csv`);
    expect(sums.headers['content-type']).toBe('text/csv; charset=utf-8');
    expect(sums.text).toBe(
      `user,calls,failedCalls,refusedCalls,promptTokens,completionTokens,cost\r\n"'=1+1,""x""",1,0,0,10,5,1\r\n`,
    );
    const calls = await admin.get(`/v1/admin/calls?${march}&format=csv&limit=1`);
    expect(calls.text.split('\r\n')).toHaveLength(3);
    expect(calls.text).toContain('app > other');
    const token = String(calls.headers['parley-next-token']);
    expect(((await admin.get(`/v1/admin/calls?${march}&token=${token}`)).json as { data: object[] }).data).toHaveLength(2);
    expect((await admin.get(`/v1/admin/calls?${march}&format=xml`)).status).toBe(400);
  });
});
