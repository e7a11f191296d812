import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { finish, text, usage } from '#test/chunks.ts';
import { RecordedTelemetry } from '#test/recorded-telemetry.ts';
import { openResponses, type ResponseDatabase } from '#test/response-stores.ts';
import { type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { callerKey, startService, type TestService } from '#test/start-service.ts';
import { cancelRun, expectComplete, followRun, getText, readEvents, startRun } from './support.ts';

vi.setConfig({ testTimeout: 30_000 });

describe('call of a chat run', () => {
  let stored: ResponseDatabase;
  let application: ScriptedUpstream;
  let service: TestService;
  let telemetry: RecordedTelemetry;
  const toRun = () => ({ url: service.url, id: randomUUID() });

  beforeAll(async () => {
    stored = await openResponses('SQLite');
    application = await startScriptedUpstream();
    telemetry = new RecordedTelemetry();
    const configuration = {
      models: { model: { upstreams: [{ endpoint: application.endpoint }], pricing: { prompt: 1, completion: 2 } } },
      applications: { app: { endpoint: `${application.url}/chat` } },
      keys: { [callerKey]: { project: 'p' } },
    };
    service = await startService(configuration, { responses: stored.stores(), telemetry });
  });
  afterAll(async () => {
    await service.close();
    await application.close();
    await stored[Symbol.asyncDispose]();
  });

  it('has one record with its tokens and cost, although its client disconnects', async () => {
    const released = Promise.withResolvers<void>();
    application.script(async (exchange) => {
      exchange.head();
      await exchange.events(text('Hel'));
      await released.promise;
      await exchange.events(text('lo'), finish(), usage(7, 5));
      exchange.done();
    });
    const startCount = telemetry.starts.length;
    const leaving = new AbortController();
    const run = toRun();
    const started = await startRun(run, 'Hello', { model: 'model', stream_options: { include_cost: true } }, leaving.signal);
    await readEvents(started, ({ choices }) => choices?.[0]?.delta.content === 'Hel');
    leaving.abort();
    released.resolve();
    const events = await readEvents(await followRun(run));
    expectComplete(events, 'completed');
    expect(events.at(-2)).toMatchObject({ usage: { total_tokens: 12, cost: 17 } });
    await telemetry.ended();
    expect(telemetry.starts.slice(startCount)).toMatchObject([{ operation: 'chat', route: '/v1/chat-runs/{run}' }]);
    expect(telemetry.ends.slice(startCount)).toMatchObject([
      { outcome: 'ok', status: 200, promptTokens: 7, completionTokens: 5 },
    ]);
  });

  it('has a per-request key that is valid until the run ends, and that reaches no runs', async () => {
    const released = Promise.withResolvers<void>();
    let key = '';
    application.script(async (exchange) => {
      key = String(exchange.received.headers['api-key']);
      exchange.head();
      await exchange.events(text('One'));
      await released.promise;
      await exchange.events(finish());
      exchange.done();
    });
    const getStatus = async () => (await fetch(`${service.url}/v1/user/info`, { headers: { 'api-key': key } })).status;
    const leaving = new AbortController();
    const run = toRun();
    await readEvents(await startRun(run, 'Hello', { model: 'app' }, leaving.signal), ({ choices }) => choices !== undefined);
    leaving.abort();
    expect(await getStatus()).toBe(200);
    expect((await startRun({ ...toRun(), key }, 'Hello', { model: 'app' })).status).toBe(403);
    expect((await followRun({ ...run, key })).status).toBe(403);
    expect((await cancelRun({ ...run, key })).status).toBe(403);
    released.resolve();
    expectComplete(await readEvents(await followRun(run)), 'completed');
    await expect.poll(getStatus).toBe(401);
  });

  it('fails if its chunks are larger than 32 MiB, after the chunks before', async () => {
    const megabyte = 'x'.repeat(1024 ** 2);
    application.script(async (exchange) => {
      exchange.head();
      for (let count = 0; count < 40 && exchange.received.isOpen; count += 1) await exchange.events(text(megabyte));
      exchange.done();
    });
    const run = toRun();
    const events = await readEvents(await startRun(run, 'Hello', { model: 'model' }));
    expectComplete(events, 'failed');
    expect(events.at(-2)).toMatchObject({ error: { code: 'upstream_failed', message: expect.stringContaining('too large') } });
    expect(getText(events).length).toBeGreaterThan(30 * 1024 ** 2);
    expect(getText(events).length).toBeLessThan(32 * 1024 ** 2);
    expect((await readEvents(await followRun(run))).length).toBe(events.length);
  });
});

it('is not available if the service stores no responses', async () => {
  await using upstream = await startScriptedUpstream();
  await using stored = await openResponses('SQLite');
  const configuration = {
    models: { slow: { upstreams: [{ endpoint: upstream.endpoint }] } },
    responses: { store: 'never' },
    keys: { [callerKey]: { project: 'p' } },
  };
  await using service = await startService(configuration, { responses: stored.stores() });
  const { url } = service;
  expect((await startRun({ url, id: 'run' }, 'Hello')).status).toBe(404);
  expect(upstream.requests).toEqual([]);
  const info = await fetch(`${url}/v1/user/info`, { headers: { 'api-key': callerKey } });
  expect(await info.json()).not.toHaveProperty('runsChats');
});
