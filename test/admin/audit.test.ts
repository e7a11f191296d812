import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AdminHouse, createAuditRecord, report, startAdminService } from './support.ts';

interface Page {
  readonly data: readonly { readonly id: string; readonly action: string }[];
  readonly nextToken: string | null;
}

let admin: AdminHouse;
const actions = ['consent.accepted', 'consent.withdrawn', 'consented', 'application.saved', 'consent.accepted'];

beforeAll(async () => {
  admin = await startAdminService();
  await admin.journal.appendAudit(actions.map((action, index) => createAuditRecord(1000 + Math.floor(index / 2), action)));
});

afterAll(() => admin[Symbol.asyncDispose]());

async function read(query: string): Promise<Page> {
  return (await admin.get(`/v1/admin/audit?${query}`)).json as Page;
}

/** Returns every page of a query in order. */
async function readAll(query: string): Promise<readonly Page[]> {
  const pages: Page[] = [];
  let token: string | null = '';
  while (token !== null) {
    const page: Page = await read(`${query}&token=${token}`);
    pages.push(page);
    token = page.nextToken;
  }
  return pages;
}

describe('the audit log', () => {
  it('returns the action, its object, its user, and its time', async () => {
    const { json } = await admin.get('/v1/admin/audit?limit=1');
    expect(json).toEqual({
      object: 'list',
      data: [
        {
          id: expect.any(String),
          at: 1002,
          action: 'consent.accepted',
          user: 'ada',
          object: 'app',
          requestId: 'request',
          details: { count: 1 },
        },
      ],
      nextToken: expect.any(String),
    });
  });

  it('has page tokens that also work within one millisecond, and ends with null', async () => {
    const pages = await readAll('limit=2');
    expect(pages.map(({ data }) => data.length)).toEqual([2, 2, 1]);
    const ids = pages.flatMap(({ data }) => data.map(({ id }) => id));
    expect(new Set(ids).size).toBe(actions.length);
  });

  it('can be filtered by one action or by a group of actions', async () => {
    const listActions = async (kind: string) => (await read(`kind=${kind}`)).data.map(({ action }) => action).sort();
    expect(await listActions('consent')).toEqual(['consent.accepted', 'consent.accepted', 'consent.withdrawn']);
    expect(await listActions('consent.withdrawn')).toEqual(['consent.withdrawn']);
    expect(await listActions('consent.with')).toEqual([]);
    expect((await readAll('kind=consent&limit=1')).map(({ data }) => data.length)).toEqual([1, 1, 1]);
  });

  it.each([
    ["kind=a'%20or%201=1", 'kind'],
    ['kind=%25', 'kind'],
    ['kind=consent&kind=application', 'kind'],
    ['token=zzzz', 'token'],
    [`token=${Buffer.from('x y').toString('base64url')}`, 'token'],
    [`token=${Buffer.from('1 a\0b').toString('base64url')}`, 'token'],
    ['limit=501', 'limit'],
  ])('rejects the query %s', async (query, param) => {
    const { status, error } = await admin.get(`/v1/admin/audit?${query}`);
    expect([status, error]).toEqual([400, expect.objectContaining({ code: 'invalid_request', param })]);
  });
});

it('/v1/admin/state returns the state that the node reports', async () => {
  expect((await admin.get('/v1/admin/state')).json).toEqual(report);
});
