import { randomBytes, randomUUID } from 'node:crypto';
import { expect, it, vi } from 'vitest';
import { hello, plainCompletion } from '#test/chunks.ts';
import { createFreshDatabase } from '#test/fresh-database.ts';
import { queryPostgres } from '#test/query-postgres.ts';
import { jsonReply, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { getSharedServer } from '#test/shared-server.ts';
import { startProcess } from '#test/start-process.ts';
import { callerKey } from '#test/start-service.ts';

vi.setConfig({ testTimeout: 60_000 });

it('nodes send one webhook for each threshold together, also after kill -9 of both before the delivery', async () => {
  await using database = await createFreshDatabase();
  await using upstream = await startScriptedUpstream(jsonReply(plainCompletion('hi')));
  await using receiver = await startScriptedUpstream(jsonReply({}, 500));
  const project = randomUUID();
  const configuration = {
    models: { m: { upstreams: [{ endpoint: upstream.endpoint }] } },
    keys: { [callerKey]: { project }, 'admin-key': { project: 'office', role: 'admin' } },
    projects: { [project]: { limits: { m: { requestDay: 50 } } } },
    alerts: [
      { of: `project:${project}`, window: 'requests.day:m', at: [0.6, 1], url: receiver.url, secret: 'a secret of this test' },
    ],
  };
  const environment = {
    PARLEY_DATABASE_URL: database.url,
    PARLEY_REDIS_URL: await getSharedServer('redis'),
    PARLEY_SECRET: randomBytes(32).toString('base64url'),
  };
  const start = () => startProcess({ configuration, environment });
  {
    await using one = await start();
    await using other = await start();
    await Promise.all(Array.from({ length: 50 }, (_, index) => (index % 2 ? one : other).chat('m', { messages: hello })));
    await receiver.request(1);
    const health = await vi.waitFor(
      async () => {
        const { text } = await one.sendRequest({ method: 'GET', path: '/health' });
        expect(text).toContain('alert_undelivered');
        return text;
      },
      { timeout: 10_000 },
    );
    expect(health).toContain('A webhook of alerts[0] could not be delivered: the receiver returned 500.');
    expect(health).not.toContain(project);
    one.kill('SIGKILL');
    other.kill('SIGKILL');
  }
  const sent = new Set(receiver.requests.map(({ headers }) => headers['webhook-id']));
  receiver.script(jsonReply({}));
  const failed = receiver.requests.length;
  await using _next = await start();
  const read = (): Promise<readonly Record<string, unknown>[]> =>
    queryPostgres(database.url, 'select id, status from alert_deliveries');
  await vi.waitFor(async () => expect((await read()).map(({ status }) => status)).toEqual(['delivered', 'delivered']), {
    timeout: 40_000,
    interval: 200,
  });
  const delivered = receiver.requests.slice(failed).map(({ headers }) => headers['webhook-id']);
  expect(delivered).toHaveLength(2);
  expect(new Set(delivered)).toEqual(sent);
});

it('workers send one webhook for the sum of their usage', async () => {
  await using upstream = await startScriptedUpstream(jsonReply(plainCompletion('hi')));
  await using receiver = await startScriptedUpstream(jsonReply({}));
  const alert = { of: 'project:search', at: [0.0006], url: receiver.url, secret: 'a secret of this test' };
  const configuration = {
    models: { m: { upstreams: [{ endpoint: upstream.endpoint }] } },
    keys: { [callerKey]: { project: 'search' } },
    // A call uses 12 tokens.
    projects: { search: { totals: { day: 1_000_000, requestDay: 1_000_000 } } },
    alerts: [
      { ...alert, window: 'tokens.day' },
      { ...alert, window: 'requests.day', at: [0.00005] },
    ],
  };
  await using node = await startProcess({ configuration, flags: ['--workers', '2'] });
  await Promise.all(Array.from({ length: 50 }, () => node.chat('m', { messages: hello })));
  await vi.waitFor(() => expect(receiver.requests).toHaveLength(2), { timeout: 10_000 });
  const used = receiver.requests.map(({ body }) => (body.data as { used: number }).used);
  expect(used.toSorted((one, other) => one - other)).toEqual([50, 600]);
});
