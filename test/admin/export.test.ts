import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { untilStill } from '#test/until-still.ts';
import { type AdminHouse, createUsageRecord, startAdminService } from './support.ts';

let admin: AdminHouse;
const march = 'from=2026-03-01&to=2026-03-31';

beforeAll(async () => {
  admin = await startAdminService();
  const calls = Array.from({ length: 1200 }, (_, index) =>
    createUsageRecord(index % 2 === 0 ? '2026-03-02' : '2026-03-03', {
      id: `${index}`.padStart(5, '0'),
      subject: `user ${index % 3}`,
    }),
  );
  await admin.journal.appendUsage([
    ...calls,
    createUsageRecord('2026-03-04', { subject: '@SUM(A1)', session: 's-1', keyId: 'k-1' }),
  ]);
});
afterAll(() => admin[Symbol.asyncDispose]());

async function read(path: string, key?: string): Promise<{ type: unknown; lines: readonly string[] }> {
  const { status, text, headers } = await admin.get(path, key);
  expect(status).toBe(200);
  return { type: headers['content-type'], lines: text.split(/\r?\n/).filter((line) => line !== '') };
}

describe('exports of calls', () => {
  it('contain every call of the range once, newest first', async () => {
    const { type, lines } = await read(`/v1/admin/calls?${march}&format=jsonl`);
    const calls = lines.map((line) => JSON.parse(line) as { id: string; at: number });
    expect([type, calls.length]).toEqual(['application/jsonl; charset=utf-8', 1201]);
    expect(new Set(calls.map(({ id }) => id)).size).toBe(1201);
    expect(calls.map(({ at }) => at)).toEqual(calls.map(({ at }) => at).sort((one, other) => other - one));
  });

  it('are CSV with the same columns in every line, and no cell that acts as a formula', async () => {
    const { type, lines } = await read(`/v1/admin/calls?${march}&format=csv`);
    expect([type, lines.length]).toEqual(['text/csv; charset=utf-8', 1202]);
    expect(new Set(lines.map((line) => line.split(',').length))).toEqual(new Set([21]));
    expect(lines[1]).toContain(`,'@SUM(A1),`);
    expect(lines[1]).toMatch(/,k-1,,,,,s-1,$/);
  });

  it('contain only the calls of the user at /v1/user/calls', async () => {
    expect((await read(`/v1/user/calls?${march}&format=jsonl`, 'user-key')).lines).toEqual([]);
    expect((await read(`/v1/user/calls?${march}&format=csv`, 'user-key')).lines).toHaveLength(1);
  });

  it('reject an unknown format before they start', async () => {
    const { status, error } = await admin.get(`/v1/admin/calls?${march}&format=xml`);
    expect([status, error.param]).toEqual([400, 'format']);
  });

  it('wait for a slow client, and stop reading after it disconnects', async () => {
    const page = Array.from({ length: 1000 }, (_, index) => createUsageRecord('2026-03-02', { id: `${index}` }));
    const listCalls = vi.spyOn(admin.journal, 'listCalls').mockResolvedValue(page);
    const client = request(`${admin.service.url}/v1/admin/calls?${march}&format=jsonl`, { headers: { 'api-key': 'admin-key' } });
    const response = await new Promise<NodeJS.ReadableStream>((resolve) => client.on('response', resolve).end());
    response.pause();
    const countReads = () => listCalls.mock.calls.length;
    await untilStill(countReads);
    const whilePaused = countReads();
    client.on('error', () => undefined).destroy();
    await untilStill(countReads);
    expect(whilePaused).toBeLessThan(100);
    expect(countReads()).toBeLessThanOrEqual(whilePaused + 1);
    listCalls.mockRestore();
  });
});

describe('exports of usage', () => {
  it('contain all sums, ordered by their keys', async () => {
    const { lines } = await read(`/v1/admin/usage?${march}&by=day,user&format=csv`);
    expect(lines.slice(0, 3)).toEqual([
      'day,user,calls,failedCalls,refusedCalls,promptTokens,completionTokens,cost',
      '2026-03-02,user 0,200,0,0,2000,1000,200',
      '2026-03-02,user 1,200,0,0,2000,1000,200',
    ]);
    expect(lines.at(-1)).toBe(`2026-03-04,'@SUM(A1),1,0,0,10,5,1`);
    expect((await read(`/v1/admin/usage?${march}&by=day,user&format=jsonl`)).lines).toHaveLength(7);
  });

  it('continue after the last sum of a page', async () => {
    const bounds = { fromMs: Date.parse('2026-03-01'), toMs: Date.parse('2026-04-01') };
    const by = ['day', 'subject'] as const;
    const pages: string[] = [];
    for (let after: Record<(typeof by)[number], string> | undefined; ; ) {
      const sums = await admin.journal.sumUsage({ ...bounds, by, order: 'keys', limit: 3, ...(after && { after }) });
      pages.push(sums.map(({ day, subject }) => `${day.slice(8)} ${subject.at(-1)}`).join());
      after = sums.at(-1);
      if (sums.length < 3) break;
    }
    expect(pages).toEqual(['02 0,02 1,02 2', '03 0,03 1,03 2', '04 )']);
  });

  it('are grouped by user and session on request', async () => {
    const { json } = await admin.get(`/v1/admin/usage?${march}&by=user,session&session=s-1`);
    expect(json).toMatchObject({ data: [{ user: '@SUM(A1)', session: 's-1', calls: 1, cost: 1 }] });
  });
});
