import { describe, expect, it, vi } from 'vitest';
import { chunk, delta, hello, plainCompletion, plainReply, text, usage } from '#test/chunks.ts';
import { errorReply, eventsReply, jsonReply, type Reply, type UpstreamExchange } from '#test/scripted-upstream.ts';
import { sendAndDisconnect, type TestResponse } from '#test/send-request.ts';
import { getChatPath, type TestService, withKey } from '#test/start-service.ts';
import { chat, getStatus, type LimitedService, readStats, readUsed, replyWithUsage, startLimited } from './support.ts';

const byMonth = (month: number) => ({ default: { limits: { m: { month } } } });

/** Delays the reply by 30 ms, so that calls are in progress concurrently. */
function delayReply(reply: Reply): Reply {
  return async (exchange) => {
    await new Promise((resolve) => setTimeout(resolve, 30));
    await reply(exchange);
  };
}

/** Holds the reply until `release` is called. */
function holdReply(reply: Reply): { reply: Reply; release: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return {
    release: resolve,
    reply: async (exchange: UpstreamExchange) => {
      await promise;
      await reply(exchange);
    },
  };
}

async function sendConcurrently(
  service: TestService,
  count: number,
  send: () => Promise<TestResponse>,
): Promise<Record<number, number>> {
  const sums: Record<number, number> = {};
  const statuses = await Promise.all(Array.from({ length: count }, async () => (await send()).status));
  for (const status of statuses) sums[status] = (sums[status] ?? 0) + 1;
  expect(service.inFlightCalls.size).toBe(0);
  return sums;
}

async function readReserved({ service }: LimitedService, window = 'monthTokenStats'): Promise<number | undefined> {
  const stats = (await readStats(service)) as Record<string, { readonly reserved?: number }>;
  return stats[window]?.reserved;
}

// The tests run concurrently, because calls that wait for quota take a second.
describe.concurrent('a limit of 50 calls with 500 concurrent calls, on a node that does not know their size', () => {
  it('admits 50 by tokens', async () => {
    await using limited = await startLimited(byMonth(600));
    const { service, upstream } = limited;
    upstream.script(delayReply(replyWithUsage(7, 5)));
    expect(await sendConcurrently(service, 500, () => chat(service))).toEqual({ 200: 50, 429: 450 });
    expect(upstream.requests).toHaveLength(50);
    expect(await readUsed(service)).toEqual({ monthTokenStats: 600 });
  });

  it('admits 50 by cost', async () => {
    await using limited = await startLimited({ default: { limits: {}, costLimit: { month: 0.85 } } });
    const { service, upstream } = limited;
    upstream.script(delayReply(replyWithUsage(7, 5)));
    expect(await sendConcurrently(service, 500, () => chat(service))).toEqual({ 200: 50, 429: 450 });
    expect(await readUsed(service)).toEqual({ monthCostStats: 0.85 });
  });

  it('admits 50 embeddings', async () => {
    await using limited = await startLimited({ default: { limits: { vectors: { month: 2000 } } } });
    const { service, upstream } = limited;
    upstream.script(delayReply(jsonReply({ object: 'list', data: [], usage: { prompt_tokens: 40, total_tokens: 40 } })));
    const send = () =>
      service.sendRequest({ path: '/v1/embeddings', headers: withKey(), body: { model: 'vectors', input: 'x' } });
    expect(await sendConcurrently(service, 500, send)).toEqual({ 200: 50, 429: 450 });
  });

  it('admits 50 calls of the Messages API', async () => {
    await using limited = await startLimited(byMonth(600));
    const { service, upstream } = limited;
    upstream.script(delayReply(replyWithUsage(7, 5)));
    const body = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'Hello' }] };
    const send = () => service.sendRequest({ path: '/msgapi/v1/messages', headers: withKey(), body });
    expect(await sendConcurrently(service, 500, send)).toEqual({ 200: 50, 429: 450 });
  });

  it.each([1, 5, 4000])('admits 50 if the requests have a max_tokens of %i', async (max_tokens) => {
    await using limited = await startLimited(byMonth(600));
    const { service, upstream } = limited;
    upstream.script(delayReply(replyWithUsage(7, 5)));
    const send = () => service.chat('m', { messages: hello, max_tokens });
    expect(await sendConcurrently(service, 500, send)).toEqual({ 200: 50, 429: 450 });
  });
});

describe('a caller with sequential calls', () => {
  it('is admitted while tokens remain, with any max_tokens', async () => {
    await using limited = await startLimited(byMonth(1000));
    const { service, upstream } = limited;
    upstream.script(replyWithUsage(800, 100), replyWithUsage(40, 55), replyWithUsage(800, 100));
    const request = { messages: hello, max_tokens: 4000 };
    const answers = [await service.chat('m', request), await service.chat('m', request), await service.chat('m', request)];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(answers.map(({ headers }) => headers['x-ratelimit-remaining-tokens'])).toEqual(['1000', '100', '5']);
    const { error } = await service.chat('m', request);
    expect(error.message).toContain('is used up (1895 of 1000)');
  });

  it('is not blocked by the outer call of its call chain', async () => {
    await using limited = await startLimited({
      default: { limits: { app: { month: 10 }, m: { month: 10 } }, costLimit: { month: 0.001 } },
    });
    const { service, upstream } = limited;
    const answers: TestResponse[] = [];
    upstream.script(callDeployment(service, 'app', answers), callDeployment(service, 'm', answers), replyWithUsage(7, 5));
    expect((await chat(service, 'app')).status).toBe(200);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  });
});

/** Returns a reply that calls one deployment with the per-request key. */
function callDeployment(service: TestService, deployment: string, answers: TestResponse[]): Reply {
  return async (exchange) => {
    const headers = withKey(String(exchange.received.headers['api-key']));
    answers.push(await service.sendRequest({ path: getChatPath(deployment), headers, body: { messages: hello } }));
    await jsonReply(plainCompletion('done', { usage: undefined }))(exchange);
  };
}

describe('the reservation of a call in progress', () => {
  it('appears in the limits and in the headers of other calls until the call ends', async () => {
    await using limited = await startLimited(byMonth(10_000));
    const { service, upstream } = limited;
    upstream.script(replyWithUsage(7, 5));
    await chat(service);
    expect(await readReserved(limited)).toBeUndefined();
    const heldReply = holdReply(replyWithUsage(7, 5));
    upstream.script(heldReply.reply, replyWithUsage(7, 5));
    const call = chat(service);
    await upstream.request(1);
    expect((await readStats(service)).monthTokenStats).toMatchObject({ total: 10_000, used: 12, reserved: 12 });
    expect((await chat(service)).headers['x-ratelimit-remaining-tokens']).toBe(String(10_000 - 12 - 12));
    heldReply.release();
    await call;
    expect((await readStats(service)).monthTokenStats).toEqual({ total: 10_000, used: 36, resetsAt: Date.parse('2026-08-01') });
  });

  it('rejects a waiting call with the reason if the other calls do not end', async () => {
    await using limited = await startLimited(byMonth(20));
    const { service, upstream } = limited;
    const heldReply = holdReply(replyWithUsage(7, 5));
    upstream.script(heldReply.reply);
    const first = chat(service);
    await upstream.request(0);
    const { status, error, headers } = await chat(service);
    expect([status, error.code, headers['retry-after']]).toEqual([429, 'token_limit_exceeded', '1']);
    expect(error.message).toMatch(
      /^Your limit of 20 tokens per month on m is reserved for your calls in progress \(0 of 20 used, 4096 reserved\)\. Try again/,
    );
    heldReply.release();
    expect((await first).status).toBe(200);
    expect(await getStatus(chat(service))).toBe(200);
  });

  it('is released if the reply fails before or after its start', async () => {
    await using limited = await startLimited(byMonth(20));
    const { service, upstream } = limited;
    upstream.script(errorReply(500));
    expect(await getStatus(chat(service))).toBe(500);
    expect(await readReserved(limited)).toBeUndefined();
    upstream.script(async (exchange) => {
      exchange.head();
      await exchange.events(delta({ role: 'assistant', content: '' }), text('x'.repeat(16)));
      exchange.destroyConnection();
    });
    const { error } = await (await service.stream('m', { messages: hello })).readRest();
    expect(error).toBeDefined();
    expect((await readStats(service)).monthTokenStats).toMatchObject({ used: 6 });
    expect(await readReserved(limited)).toBeUndefined();
  });

  it('is released when the client disconnects', async () => {
    await using limited = await startLimited(byMonth(5000));
    const { service, upstream } = limited;
    upstream.script(holdReply(replyWithUsage(7, 5)).reply);
    const caller = sendAndDisconnect(service.url, { path: getChatPath('m'), headers: withKey(), body: { messages: hello } });
    await upstream.request(0);
    expect(await readReserved(limited)).toBe(4096);
    caller.disconnect();
    await vi.waitFor(async () => expect(await readReserved(limited)).toBeUndefined(), 8_000);
  });

  it('is not made for a client that disconnects while it waits', async () => {
    await using limited = await startLimited({ default: { limits: { m: { month: 20 } } } });
    const { service, upstream } = limited;
    const heldReply = holdReply(replyWithUsage(7, 5));
    upstream.script(heldReply.reply);
    const first = chat(service);
    await upstream.request(0);
    const second = sendAndDisconnect(service.url, { path: getChatPath('m'), headers: withKey(), body: { messages: hello } });
    await vi.waitFor(() => expect(service.inFlightCalls.size).toBe(2), 8_000);
    second.disconnect();
    await vi.waitFor(() => expect(service.inFlightCalls.size).toBe(1), 8_000);
    heldReply.release();
    expect((await first).status).toBe(200);
    expect(await getStatus(chat(service))).toBe(200);
    expect(upstream.requests).toHaveLength(2);
  });

  it('is replaced by the actual usage of a stream, even if that is much more', async () => {
    await using limited = await startLimited(byMonth(1000));
    const { service, upstream } = limited;
    upstream.script(replyWithUsage(7, 5));
    await chat(service);
    upstream.script(eventsReply(...plainReply('one', 'two'), usage(70, 850)));
    const readers = await Promise.all([1, 2].map(() => service.stream('m', { messages: hello })));
    await Promise.all(readers.map((reader) => reader.readRest()));
    expect((await readStats(service)).monthTokenStats).toMatchObject({ used: 12 + 2 * 920 });
    expect(await readReserved(limited)).toBeUndefined();
    expect((await chat(service)).error.message).toContain('(1852 of 1000)');
  });

  it('grows within a few calls if the replies grow', async () => {
    await using limited = await startLimited(byMonth(100_000));
    const { service, upstream } = limited;
    upstream.script(replyWithUsage(7, 5));
    await chat(service);
    upstream.script(replyWithUsage(100, 900));
    for (let turn = 0; turn < 20; turn += 1) await chat(service);
    const heldReply = holdReply(replyWithUsage(100, 900));
    upstream.script(heldReply.reply);
    const call = chat(service);
    await upstream.request(21);
    expect(await readReserved(limited)).toBeGreaterThan(900);
    expect(await readReserved(limited)).toBeLessThan(1500);
    heldReply.release();
    await call;
  });
});

describe('calls that wait for other calls of their caller', () => {
  it('do not delay calls of other callers', async () => {
    await using limited = await startLimited(byMonth(20));
    const { service, upstream } = limited;
    const heldReply = holdReply(replyWithUsage(7, 5));
    upstream.script(heldReply.reply, replyWithUsage(7, 5));
    const first = chat(service);
    await upstream.request(0);
    const second = chat(service);
    expect(await getStatus(chat(service, 'm', 'another'))).toBe(200);
    heldReply.release();
    expect([(await first).status, (await second).status]).toEqual([200, 200]);
  });

  it('continue when a stream ends', async () => {
    await using limited = await startLimited(byMonth(20));
    const { service, upstream } = limited;
    const continueStream = Promise.withResolvers<void>();
    upstream.script(
      async (exchange) => {
        exchange.head();
        await exchange.events(delta({ role: 'assistant', content: '' }), text('x'));
        await continueStream.promise;
        await exchange.events(chunk({ choices: [] }), usage(7, 5));
        exchange.done();
      },
      replyWithUsage(7, 5),
    );
    const reader = await service.stream('m', { messages: hello });
    const second = chat(service);
    continueStream.resolve();
    await reader.readRest();
    expect((await second).status).toBe(200);
  });
});
