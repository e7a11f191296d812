import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { delta, hello, plainCompletion, plainReply } from '#test/chunks.ts';
import { findFreePort } from '#test/listening.ts';
import { errorReply, eventsReply, jsonReply, type Reply, silence, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { callerKey, startService, type TestService } from '#test/start-service.ts';

function startWith(upstreams: readonly object[], fields: object = {}): Promise<TestService> {
  const keys = { [callerKey]: { project: 'test' }, 'other-key': { project: 'other' } };
  return startService({ models: { m: { upstreams, ...fields } }, keys });
}

const fine = jsonReply(plainCompletion('fine'));
const resets: Reply = (exchange) => exchange.reset();
const closes: Reply = (exchange) => exchange.destroyConnection();

describe('failed attempt before the first byte', () => {
  it.each([
    ['429', errorReply(429)],
    ['502', errorReply(502)],
    ['503', errorReply(503)],
    ['504', errorReply(504)],
    ['a reset connection', resets],
    ['a connection closed without an answer', closes],
    ['no first byte in time', silence as Reply],
    ['an error event with a retryable status', eventsReply({ error: { message: 'busy', code: 503 } })],
  ])('is retried at another upstream after %s', async (_what, reply) => {
    await using first = await startScriptedUpstream(reply);
    await using second = await startScriptedUpstream(fine);
    const timeouts = { firstByteMs: 150 };
    await using service = await startWith([
      { endpoint: first.endpoint, timeouts },
      { endpoint: second.endpoint, tier: 1 },
    ]);
    for (const body of [{}, { stream: true }]) {
      service.forgetFailures();
      const answer = await service.chat('m', { messages: hello, ...body });
      expect(answer.status).toBe(200);
      expect(answer.text).toContain('fine');
    }
    expect(second.requests).toHaveLength(2);
  });

  it('is retried at another upstream after a refused connection', async () => {
    await using second = await startScriptedUpstream(fine);
    await using service = await startWith([
      { endpoint: `http://127.0.0.1:${await findFreePort()}/v1` },
      { endpoint: second.endpoint, tier: 1 },
    ]);
    expect((await service.chat('m', { messages: hello })).status).toBe(200);
  });

  it('is retried at the same upstream if there is no other', async () => {
    await using upstream = await startScriptedUpstream(errorReply(503), resets, errorReply(502), fine);
    await using service = await startWith([{ endpoint: upstream.endpoint }]);
    expect((await service.chat('m', { messages: hello })).status).toBe(200);
    expect(upstream.requests).toHaveLength(4);
  });

  it('is retried if the stream had headers but no event', async () => {
    const broken = (exchange: Parameters<Reply>[0]): void => {
      exchange.head();
      exchange.response.write('data: {"error":{"code":503,"message":"busy"}}\n\n');
    };
    await using upstream = await startScriptedUpstream(broken, eventsReply(...plainReply('fine')));
    await using service = await startWith([{ endpoint: upstream.endpoint }]);
    expect((await (await service.stream('m', { messages: hello })).readRest()).content()).toBe('fine');
  });

  it('is retried up to maxRetryAttempts times, then the last error is returned', async () => {
    for (const [maxRetryAttempts, tries] of [
      [1, 1],
      [3, 3],
      [undefined, 5],
    ] as const) {
      await using upstream = await startScriptedUpstream(errorReply(503));
      await using service = await startWith([{ endpoint: upstream.endpoint }], { ...(maxRetryAttempts && { maxRetryAttempts }) });
      const answer = await service.chat('m', { messages: hello });
      expect([answer.status, answer.error.code]).toEqual([503, 'upstream_unavailable']);
      expect(upstream.requests).toHaveLength(tries);
    }
  });
});

describe('attempt', () => {
  it.each([
    [500, 500],
    [400, 400],
    [401, 500],
    [404, 404],
    [413, 413],
    [422, 400],
  ])('is not retried after %i', async (status, expectedStatus) => {
    await using first = await startScriptedUpstream(errorReply(status));
    await using second = await startScriptedUpstream(fine);
    await using service = await startWith([{ endpoint: first.endpoint }, { endpoint: second.endpoint, tier: 1 }]);
    expect((await service.chat('m', { messages: hello })).status).toBe(expectedStatus);
    expect([first.requests.length, second.requests.length]).toEqual([1, 0]);
  });

  it('is not retried after the first event', async () => {
    const failAfterFirstEvent: Reply = async (exchange) => {
      exchange.head();
      await exchange.events(delta({ role: 'assistant', content: 'hi' }));
      exchange.destroyConnection();
    };
    await using first = await startScriptedUpstream(failAfterFirstEvent);
    await using second = await startScriptedUpstream(fine);
    await using service = await startWith([{ endpoint: first.endpoint }, { endpoint: second.endpoint, tier: 1 }]);
    const { error } = await (await service.stream('m', { messages: hello })).readRest();
    expect(error?.code).toBe('upstream_failed');
    expect(second.requests).toHaveLength(0);
    expect((await service.chat('m', { messages: hello })).status).toBe(500);
    expect([first.requests.length, second.requests.length]).toEqual([2, 0]);
  });

  it('is not retried for an application unless maxRetryAttempts is set', async () => {
    await using upstream = await startScriptedUpstream(errorReply(503));
    await using service = await startService({
      applications: {
        once: { endpoint: `${upstream.url}/app` },
        twice: { endpoint: `${upstream.url}/twice`, maxRetryAttempts: 2 },
      },
    });
    await service.chat('once', { messages: hello });
    expect(upstream.requests).toHaveLength(1);
    await service.chat('twice', { messages: hello });
    expect(upstream.requests).toHaveLength(3);
  });
});

describe('application that closes the connection while it works', () => {
  it('is not called again, even on a reused connection', async () => {
    const closeLate: Reply = async (exchange) => {
      await sleep(1_100);
      exchange.destroyConnection();
    };
    await using upstream = await startScriptedUpstream(fine, closeLate);
    await using service = await startService({ applications: { app: { endpoint: `${upstream.url}/app` } } });
    expect((await service.chat('app', { messages: hello })).status).toBe(200);
    expect((await service.chat('app', { messages: hello })).status).toBe(503);
    expect(upstream.requests).toHaveLength(2);
  });
});

describe('several upstreams', () => {
  it('of one tier share the calls evenly by weight', async () => {
    await using heavy = await startScriptedUpstream(fine);
    await using light = await startScriptedUpstream(fine);
    await using unused = await startScriptedUpstream(fine);
    await using service = await startWith([
      { endpoint: heavy.endpoint, weight: 3 },
      { endpoint: light.endpoint, weight: 1 },
      { endpoint: unused.endpoint, weight: 0 },
    ]);
    for (let call = 0; call < 8; call += 1) await service.chat('m', { messages: hello });
    expect([heavy.requests.length, light.requests.length, unused.requests.length]).toEqual([6, 2, 0]);
  });

  it('of a higher tier are used only if the lower tier cannot serve', async () => {
    await using first = await startScriptedUpstream(fine);
    await using second = await startScriptedUpstream(fine);
    await using service = await startWith([
      { endpoint: second.endpoint, tier: 2, weight: 10 },
      { endpoint: first.endpoint, tier: 1 },
    ]);
    for (let call = 0; call < 4; call += 1) await service.chat('m', { messages: hello });
    expect([first.requests.length, second.requests.length]).toEqual([4, 0]);
    first.script(errorReply(429, { 'retry-after': '60' }));
    for (let call = 0; call < 3; call += 1) expect((await service.chat('m', { messages: hello })).status).toBe(200);
    expect([first.requests.length, second.requests.length]).toEqual([5, 3]);
  });

  it('that are all rate limited return 429, even with an upstream of weight 0', async () => {
    await using limited = await startScriptedUpstream(errorReply(429, { 'retry-after': '40' }));
    await using drained = await startScriptedUpstream(fine);
    await using service = await startWith([{ endpoint: limited.endpoint }, { endpoint: drained.endpoint, weight: 0 }]);
    await service.chat('m', { messages: hello });
    const { status, headers } = await service.chat('m', { messages: hello });
    expect([status, Number(headers['retry-after']) > 30]).toEqual([429, true]);
    expect(drained.requests).toEqual([]);
  });

  it('that are all rate limited return 429 with the shortest remaining time', async () => {
    await using first = await startScriptedUpstream(errorReply(429, { 'retry-after': '90' }));
    await using second = await startScriptedUpstream(errorReply(429, { 'retry-after': '40' }));
    await using service = await startWith([{ endpoint: first.endpoint }, { endpoint: second.endpoint }]);
    const answers = [await service.chat('m', { messages: hello }), await service.chat('m', { messages: hello })];
    for (const answer of answers) expect([answer.status, answer.error.code]).toEqual([429, 'upstream_rate_limited']);
    expect([first.requests.length, second.requests.length]).toEqual([1, 1]);
    expect(Number(answers[1]?.headers['retry-after'])).toBeLessThanOrEqual(40);
    expect(Number(answers[0]?.headers['retry-after'])).toBeLessThanOrEqual(40);
  });

  it('are not paused after a success, but after failed calls of two callers', async () => {
    await using upstream = await startScriptedUpstream(errorReply(500), fine, errorReply(500));
    await using service = await startWith([{ endpoint: upstream.endpoint }], { maxRetryAttempts: 1 });
    const statuses: number[] = [];
    for (const caller of [callerKey, callerKey, callerKey, 'other-key', 'other-key'])
      statuses.push((await service.chat('m', { messages: hello }, { 'api-key': caller })).status);
    expect(statuses).toEqual([500, 200, 500, 500, 503]);
    expect(upstream.requests).toHaveLength(4);
  });

  it('are not paused for invalid replies, because the prompt may cause them', async () => {
    await using upstream = await startScriptedUpstream(jsonReply('{bad'), jsonReply('{bad'), jsonReply('{bad'), fine);
    await using service = await startWith([{ endpoint: upstream.endpoint }]);
    const statuses: number[] = [];
    for (let call = 0; call < 4; call += 1) statuses.push((await service.chat('m', { messages: hello })).status);
    expect(statuses).toEqual([500, 500, 500, 200]);
  });

  it('each receive their own key, model, and headers', async () => {
    await using first = await startScriptedUpstream(errorReply(503));
    await using second = await startScriptedUpstream(fine);
    await using service = await startWith([
      { endpoint: first.endpoint, key: 'key-1', model: 'model-1', headers: { 'x-one': '1' } },
      {
        endpoint: `${second.url}/openai/deployments/d`,
        protocol: 'azure',
        apiVersion: '2024-10-21',
        key: 'key-2',
        model: 'model-2',
        tier: 1,
      },
    ]);
    await service.chat('m', { messages: hello, model: 'whatever' });
    expect(first.requests[0]).toMatchObject({
      path: '/v1/chat/completions',
      headers: { authorization: 'Bearer key-1', 'x-one': '1' },
      body: { model: 'model-1' },
    });
    const azure = second.requests[0];
    expect(azure).toMatchObject({
      path: '/openai/deployments/d/chat/completions?api-version=2024-10-21',
      headers: { 'api-key': 'key-2' },
      body: { model: 'model-2' },
    });
    expect(azure?.headers).not.toHaveProperty('authorization');
    expect(azure?.headers).not.toHaveProperty('x-one');
  });
});
