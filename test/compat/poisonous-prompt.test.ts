import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '#base/time/clock.ts';
import { hello, plainCompletion } from '#test/chunks.ts';
import { errorReply, jsonReply, type Reply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { callerKey, startService, type TestService } from '#test/start-service.ts';

const keys = { [callerKey]: { project: 'test' }, ada: { project: 'ada' }, bob: { project: 'bob' }, eve: { project: 'eve' } };
const poison = [{ role: 'user', content: 'poison' }];
const exchange: Reply = (answer) =>
  (answer.received.text.includes('poison') ? errorReply(500) : jsonReply(plainCompletion('fine')))(answer);

it('a failing prompt of one caller does not pause the upstream for other callers', async () => {
  await using upstream = await startScriptedUpstream(exchange);
  await using service = await startService({ keys, models: { m: { upstreams: [{ endpoint: upstream.endpoint }] } } });
  for (let call = 0; call < 6; call += 1)
    expect((await service.chat('m', { messages: poison }, { 'api-key': 'eve' })).status).toBe(500);
  const requestCount = upstream.requests.length;
  expect((await service.chat('m', { messages: hello }, { 'api-key': 'ada' })).status).toBe(200);
  expect((await service.chat('m', { messages: hello }, { 'api-key': 'bob' })).status).toBe(200);
  expect(upstream.requests.length).toBe(requestCount + 2);
});

describe('single upstream that failed calls of two callers', () => {
  let upstream: ScriptedUpstream;
  let service: TestService;
  /** Current time of the service's clock, which advances only when a test sets it. */
  let nowMs: number;
  const chat = (key: string) => service.chat('m', { messages: hello }, { 'api-key': key });

  beforeEach(async () => {
    upstream = await startScriptedUpstream(errorReply(500));
    nowMs = 0;
    const clock = { ...systemClock, nowMs: () => nowMs };
    service = await startService({ keys, models: { m: { upstreams: [{ endpoint: upstream.endpoint }] } } }, { clock });
    for (const key of ['eve', 'ada']) expect((await chat(key)).status).toBe(500);
  });

  afterEach(async () => {
    await service.close();
    await upstream.close();
  });

  it('is paused for 1 s, then probed by one call, and serves all calls after that call succeeds', async () => {
    expect((await chat('bob')).status).toBe(503);
    nowMs = 1_000;
    expect((await chat('bob')).status).toBe(500);
    nowMs = 2_000;
    const answered = Promise.withResolvers<void>();
    upstream.script(async (exchange) => {
      await answered.promise;
      await jsonReply(plainCompletion('fine'))(exchange);
    });
    const probe = chat('bob');
    await upstream.request(3);
    for (const key of ['eve', 'ada', 'bob']) {
      const { status, headers } = await chat(key);
      expect([status, headers['retry-after']]).toEqual([503, '1']);
    }
    expect(upstream.requests).toHaveLength(4);
    answered.resolve();
    expect((await probe).status).toBe(200);
    expect((await chat('eve')).status).toBe(200);
  });

  it('is probed with increasing pauses while it fails', async () => {
    nowMs = 1_000;
    expect((await chat('bob')).status).toBe(500);
    const { status, headers } = await chat('bob');
    expect([status, headers['retry-after']]).toEqual([503, '2']);
    expect(upstream.requests).toHaveLength(3);
    nowMs = 2_000;
    expect((await chat('ada')).status).toBe(500);
    expect((await chat('eve')).status).toBe(503);
  });

  it('is probed by another call if the client of the probe disconnects', async () => {
    for (nowMs of [1_000, 3_000]) expect((await chat('bob')).status).toBe(500);
    upstream.script(() => undefined);
    nowMs = 4_000;
    const { disconnect } = service.chatAndDisconnect('m', { messages: hello });
    await upstream.request(4);
    disconnect();
    await vi.waitFor(() => expect(service.inFlightCalls.size).toBe(0));
    upstream.script(jsonReply(plainCompletion('fine')));
    nowMs = 4_999;
    expect((await chat('bob')).status).toBe(503);
    nowMs = 5_000;
    expect((await chat('bob')).status).toBe(200);
  });
});
