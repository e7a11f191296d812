import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AdminHouse, createAuditRecord, startAdminService } from './support.ts';

let admin: AdminHouse;

beforeAll(async () => {
  admin = await startAdminService();
  const rated = createAuditRecord(2000, 'deployment.rated');
  await admin.journal.appendAudit([
    { ...rated, details: { rate: false, comment: 'wrong', responseId: 'r1' } },
    { ...createAuditRecord(1000, 'deployment.rated'), details: { rate: 5 } },
    createAuditRecord(1500, 'consent.accepted'),
  ]);
});

afterAll(() => admin[Symbol.asyncDispose]());

it('administrators can read ratings page by page, newest first', async () => {
  const first = (await admin.get('/v1/admin/usage?kind=rate&limit=1')).json as { data: unknown[]; nextToken: string };
  const common = { id: expect.any(String), deployment: 'app', user: 'ada', requestId: 'request' };
  expect(first.data).toEqual([{ ...common, at: 2000, rate: false, comment: 'wrong', responseId: 'r1' }]);
  const { json } = await admin.get(`/v1/admin/usage?kind=rate&token=${first.nextToken}`);
  expect(json).toEqual({
    object: 'list',
    data: [{ ...common, at: 1000, rate: 5, comment: null, responseId: null }],
    nextToken: null,
  });
  expect((await admin.get('/v1/admin/usage?kind=rate', 'user-key')).status).toBe(403);
  const { status, error } = await admin.get('/v1/admin/usage?kind=rates');
  expect([status, error.param]).toEqual([400, 'kind']);
});
