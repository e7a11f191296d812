import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '#base/time/clock.ts';
import type { UndeliveredAlert } from '#services/alerts/alert-deliveries.ts';
import { SqlEntryStore } from '#stores/sql/administration/entry-store.ts';
import { SqlJournal } from '#stores/sql/journal/journal.ts';
import { SqlAlertStore } from '#stores/sql/limits/alert-store.ts';
import { jsonReply, type ReceivedRequest, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { type FreshDatabase, freshSqlite } from '#test/sql-engines.ts';
import { startService, type TestService } from '#test/start-service.ts';
import { call, read, seal, send, until } from '../admin/entries-cluster.ts';
import { report } from '../admin/support.ts';
import { replyWithUsage } from './support.ts';

let advanceMs = 0;
const clock = { ...systemClock, epochMs: () => Date.now() + advanceMs };
const encodedSecret = `whsec_${Buffer.alloc(32, 'k').toString('base64')}`;
const plainSecret = 'a plain secret of this test';

let sqlite: FreshDatabase;
let opened: Awaited<ReturnType<FreshDatabase['open']>>;
let upstream: ScriptedUpstream;
let receiver: ScriptedUpstream;
let service: TestService;
const undelivered: UndeliveredAlert[] = [];
const logged: string[] = [];

const key = (project: string, role = 'counted') => ({ project, key: project, role });

/** Each call uses 10 tokens. Each project has its own limits. */
beforeAll(async () => {
  sqlite = await freshSqlite();
  opened = await sqlite.open();
  upstream = await startScriptedUpstream(replyWithUsage(6, 4));
  receiver = await startScriptedUpstream(jsonReply({}));
  const alert = (of: string, window: string, at: readonly number[], secret = plainSecret) => {
    return { of, window, at, url: `${receiver.url}/${encodeURIComponent(of)}?token=secret-of-the-url`, secret };
  };
  const limit = { limits: { m: { requestDay: 50 } }, totals: { day: 1_000_000 } };
  service = await startService(
    {
      models: { m: { upstreams: [{ endpoint: upstream.endpoint }] } },
      keys: {
        'admin-key': { project: 'office', role: 'admin' },
        ...{ search: key('search'), retried: key('retried'), gone: key('gone'), lost: key('lost'), reset: key('reset') },
        ...{ ada: key('ada', 'each'), bob: key('bob', 'each') },
      },
      roles: { each: { limits: { m: { requestHour: 2 } } }, counted: { limits: { m: {} } }, admin: { limits: { m: {} } } },
      projects: { search: limit, retried: limit, gone: limit, lost: limit, reset: limit },
      alerts: [
        alert('project:search', 'requests.day:m', [0.8, 1], encodedSecret),
        alert('project:search', 'tokens.day', [0.0005]),
        alert('role:each', 'requests.hour:*', [0.5]),
        ...['retried', 'gone', 'lost', 'reset'].map((name) => alert(`project:${name}`, 'requests.day:m', [0.02])),
      ],
    },
    {
      clock,
      entryStore: new SqlEntryStore(opened.database, seal),
      admin: { journal: new SqlJournal(opened.database), readNode: () => report },
      alerts: {
        store: new SqlAlertStore(opened.database),
        onUndelivered: (alerts) => undelivered.splice(0, Number.POSITIVE_INFINITY, ...alerts),
      },
      reportError: (message, error) => void logged.push(`${message} ${error}`),
    },
  );
});
afterAll(async () => {
  await service.close();
  await opened.close();
  await Promise.all([upstream.close(), receiver.close(), sqlite[Symbol.asyncDispose]()]);
});
beforeEach(() => receiver.script(jsonReply({})));

const findReceived = (of: string): readonly ReceivedRequest[] =>
  receiver.requests.filter(({ path }) => path.startsWith(`/${encodeURIComponent(of)}`));
const untilReceived = (of: string, count: number) =>
  vi.waitFor(() => expect(findReceived(of)).toHaveLength(count), { timeout: 10_000, interval: 20 });
const list = async (of: string) => read(await send(service, 'GET', 'alerts?limit=500')).data.filter((item) => item.of === of);
const untilStatus = (of: string, status: string) => until(async () => (await list(of))[0]?.status === status);
const verify = ({ headers, text }: ReceivedRequest, secret: string, format?: 'raw') =>
  new Webhook(secret, format && { format }).verify(text, headers as Record<string, string>) as { data: Record<string, unknown> };

describe('alerts', () => {
  it('send one signed webhook for each threshold with 50 concurrent calls', async () => {
    const calls = await Promise.all(Array.from({ length: 50 }, () => call(service, 'm', 'search')));
    expect(new Set(calls.map(({ status }) => status))).toEqual(new Set([200]));
    expect((await call(service, 'm', 'search')).status).toBe(429);
    await until(async () => (await list('project:search')).filter(({ status }) => status === 'delivered').length === 3);
    const received = findReceived('project:search');
    const messages = received.map((request) =>
      request.text.includes('tokens') ? verify(request, plainSecret, 'raw') : verify(request, encodedSecret),
    );
    const resetsAt = new Date(clock.epochMs()).setUTCHours(24, 0, 0, 0);
    const data = { of: 'project:search', window: 'requests.day:m', limit: 50, resetsAt };
    expect(messages.map((message) => message.data).sort((one, other) => Number(one.threshold) - Number(other.threshold))).toEqual(
      [
        { ...data, window: 'tokens.day', threshold: 0.0005, used: 500, limit: 1_000_000 },
        { ...data, threshold: 0.8, used: 40 },
        { ...data, threshold: 1, used: 50 },
      ],
    );
    expect(messages[0]).toMatchObject({ type: 'limit.threshold_reached', timestamp: expect.stringMatching(/^\d{4}-.*Z$/) });
    expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(3);
  });

  it('count each user of a role separately', async () => {
    await call(service, 'm', 'ada');
    await call(service, 'm', 'ada');
    await call(service, 'm', 'bob');
    await untilReceived('role:each', 2);
    const data = findReceived('role:each').map((request) => verify(request, plainSecret, 'raw').data);
    expect(data.map(({ user }) => user).sort()).toEqual(['key:ada', 'key:bob']);
    expect(data[0]).toMatchObject({ of: 'role:each', window: 'requests.hour:m', threshold: 0.5, used: 1, limit: 2 });
  });

  it('try again after a redirect and an error with the same ID, and report the failure meanwhile', async () => {
    receiver.script(jsonReply({}, 302, { location: '/elsewhere' }), jsonReply({}, 500), jsonReply({}));
    await call(service, 'm', 'retried');
    await untilReceived('project:retried', 1);
    await vi.waitFor(() => expect(undelivered).toMatchObject([{ index: 3, error: 'the receiver returned 302' }]), 5_000);
    await untilReceived('project:retried', 3);
    await untilStatus('project:retried', 'delivered');
    expect((await list('project:retried'))[0]).toMatchObject({ attempts: 3, nextAttemptAt: null, error: null });
    await vi.waitFor(() => expect(undelivered).toEqual([]), 5_000);
    const received = findReceived('project:retried');
    expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    for (const request of received) verify(request, plainSecret, 'raw');
    expect(receiver.requests.some(({ path }) => path === '/elsewhere')).toBe(false);
  });

  it('stop after 410', async () => {
    receiver.script(jsonReply({}, 410));
    await call(service, 'm', 'gone');
    await untilStatus('project:gone', 'failed');
    expect((await list('project:gone'))[0]).toMatchObject({ attempts: 1, error: 'the receiver returned 410' });
  });

  it('start again after the counters are reset', async () => {
    await call(service, 'm', 'reset');
    await untilReceived('project:reset', 1);
    expect((await send(service, 'POST', 'projects/reset/reset')).status).toBe(200);
    await call(service, 'm', 'reset');
    await untilReceived('project:reset', 2);
  });

  it('stop after 24 hours, and never log secrets', async () => {
    receiver.script(jsonReply({}, 503));
    await call(service, 'm', 'lost');
    await until(async () => (await list('project:lost'))[0]?.error != null);
    advanceMs = 24 * 3_600_000;
    await untilStatus('project:lost', 'failed');
    const failed = { index: 5, error: 'the receiver returned 503', retriesUntilMs: undefined };
    await vi.waitFor(() => expect(undelivered).toContainEqual(failed), 5_000);
    await vi.waitFor(() => expect(logged.filter((line) => line.includes('alerts[5]'))).toHaveLength(2), 5_000);
    expect(logged.join('\n')).not.toMatch(/plain secret|secret-of-the-url/);
    const secrets = service.snapshot.listSecrets().map((secret) => secret.reveal());
    expect(secrets).toEqual(expect.arrayContaining([encodedSecret, plainSecret, 'secret-of-the-url']));
  });

  it('are listed with the state of their webhooks, page by page, for administrators and auditors', async () => {
    const readPage = async (query: string) => read(await send(service, 'GET', `configured-alerts${query}`));
    const { data, nextToken } = await readPage('');
    expect([data.map(({ path }) => path), nextToken]).toEqual([
      Array.from({ length: 7 }, (_, index) => `alerts[${index}]`),
      null,
    ]);
    const healthy = { pending: 0, nextAttemptAt: null, lastSentAt: expect.any(Number), lastFailure: null };
    expect(data[0]).toEqual({
      ...{ path: 'alerts[0]', of: 'project:search', window: 'requests.day:m', at: [0.8, 1], server: receiver.url, ...healthy },
    });
    expect(data.find(({ of }) => of === 'project:retried')).toMatchObject(healthy);
    expect(data.find(({ of }) => of === 'project:gone')).toMatchObject({
      ...{ pending: 0, nextAttemptAt: null, lastSentAt: null },
      lastFailure: { at: expect.any(Number), error: 'the receiver returned 410' },
    });
    expect(JSON.stringify(data)).not.toMatch(/plain secret|whsec|secret-of-the-url/);
    const first = await readPage('?limit=5');
    expect([...first.data, ...(await readPage(`?limit=5&token=${first.nextToken}`)).data]).toEqual(data);
    expect((await send(service, 'GET', 'configured-alerts?token=x')).status).toBe(400);
    expect((await send(service, 'GET', 'configured-alerts', undefined, { 'api-key': 'search' })).status).toBe(403);
  });
});
