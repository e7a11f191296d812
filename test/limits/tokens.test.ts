import { describe, expect, it, vi } from 'vitest';
import { chunk, delta, hello, plainReply, text, usage } from '#test/chunks.ts';
import { eventsReply, jsonReply, silence } from '#test/scripted-upstream.ts';
import { sendAndDisconnect } from '#test/send-request.ts';
import { chat, getStatus, getStatusesAround, readUsed, startLimited } from './support.ts';

const byMinute = (minute: number) => ({ default: { limits: { '*': { minute, requestDay: 100 } } } });

describe('a token limit', () => {
  it('admits a call while tokens remain, and rejects the next', async () => {
    await using limited = await startLimited(byMinute(20));
    const { service } = limited;
    expect(await getStatus(chat(service))).toBe(200);
    expect(await getStatus(chat(service))).toBe(200);
    const { status, error } = await chat(service);
    expect([status, error.code]).toEqual([429, 'token_limit_exceeded']);
    expect(error.message).toBe(
      'Your limit of 20 tokens per minute on m is used up (24 of 20). It resets in 30s, at 2026-07-15T10:21:00Z.',
    );
    expect(await readUsed(service)).toEqual({ minuteTokenStats: 24, dayRequestStats: 2 });
  });

  it.each([
    ['minute', '2026-07-15T10:20:59.999Z', '2026-07-15T10:21:00.000Z'],
    ['day', '2026-07-15T23:59:59.999Z', '2026-07-16T00:00:00.000Z'],
    ['week', '2026-07-19T23:59:59.999Z', '2026-07-20T00:00:00.000Z'],
    ['month', '2026-07-31T23:59:59.999Z', '2026-08-01T00:00:00.000Z'],
  ])('applies to one %s of the UTC calendar', async (window, last, next) => {
    await using limited = await startLimited({ default: { limits: { m: { [window]: 10 } } } });
    expect(await getStatusesAround(limited, last, next)).toEqual([200, 429, 200]);
  });

  it('counts the tokens of a stream once, before the stream ends', async () => {
    await using limited = await startLimited(byMinute(1000));
    const { service, upstream } = limited;
    upstream.script(eventsReply(...plainReply('one', 'two'), usage(70, 50)));
    for (const sum of [120, 240]) {
      await (await service.stream('m', { messages: hello })).readRest();
      expect(await readUsed(service)).toMatchObject({ minuteTokenStats: sum });
    }
  });

  it('counts an estimate if the upstream reports no usage', async () => {
    await using limited = await startLimited(byMinute(1000));
    const { service, upstream } = limited;
    upstream.script(eventsReply(...plainReply('x'.repeat(400)).slice(0, -1)));
    await (await service.stream('m', { messages: hello })).readRest();
    expect(await readUsed(service)).toMatchObject({ minuteTokenStats: 102 });
  });

  it('counts an estimate if the client disconnects', async () => {
    await using limited = await startLimited(byMinute(1000));
    const { service, upstream } = limited;
    upstream.script(async (exchange) => {
      exchange.head();
      await exchange.events(delta({ role: 'assistant', content: '' }), text('x'.repeat(40)));
    });
    const reader = await service.stream('m', { messages: hello });
    await reader.next();
    reader.disconnect();
    await vi.waitFor(async () => expect((await readUsed(service)).minuteTokenStats).toBeGreaterThan(0), 8_000);
    expect(await readUsed(service)).toEqual({ minuteTokenStats: 12, dayRequestStats: 1 });
  });

  it('counts the prompt if the client disconnects before the reply', async () => {
    await using limited = await startLimited(byMinute(1000));
    const { service, upstream } = limited;
    upstream.script(silence);
    const caller = service.chatAndDisconnect('m', { messages: [{ role: 'user', content: 'x'.repeat(80) }] });
    await upstream.request(0);
    caller.disconnect();
    await vi.waitFor(async () => expect((await readUsed(service)).minuteTokenStats).toBe(20), 8_000);
  });

  it('counts the received part of a reply whose connection breaks', async () => {
    await using limited = await startLimited(byMinute(1000));
    const { service, upstream } = limited;
    upstream.script(async (exchange) => {
      exchange.head();
      await exchange.events(delta({ role: 'assistant', content: '' }), text('x'.repeat(40)));
      exchange.destroyConnection();
    });
    const { error } = await (await service.stream('m', { messages: hello })).readRest();
    expect(error?.code).toBe('upstream_failed');
    expect(await readUsed(service)).toMatchObject({ minuteTokenStats: 12 });
  });

  it.each([-50, 0.4, 'many', null])('counts 0 prompt tokens if the upstream reports %s', async (prompt_tokens) => {
    await using limited = await startLimited(byMinute(1000));
    const { service, upstream } = limited;
    upstream.script(
      eventsReply(...plainReply('hi').slice(0, -1), chunk({ usage: { prompt_tokens, completion_tokens: 3 } as never })),
    );
    await (await service.stream('m', { messages: hello })).readRest();
    expect(await readUsed(service)).toMatchObject({ minuteTokenStats: 3 });
  });

  it('reports the remaining tokens in the headers of every response', async () => {
    await using limited = await startLimited(byMinute(100));
    const { service, upstream } = limited;
    await chat(service);
    const expected = {
      'x-ratelimit-limit-tokens': '100',
      'x-ratelimit-remaining-tokens': '88',
      'x-ratelimit-reset-tokens': '30s',
      'x-ratelimit-limit-requests': '100',
      'x-ratelimit-remaining-requests': '98',
      'x-ratelimit-reset-requests': '13h39m30s',
    };
    expect((await chat(service)).headers).toMatchObject(expected);
    upstream.script(eventsReply(...plainReply('hi')));
    const { headers } = await service.stream('m', { messages: hello });
    expect(headers).toMatchObject({
      ...expected,
      'x-ratelimit-remaining-tokens': '76',
      'x-ratelimit-remaining-requests': '97',
    });
  });

  it('adds no such headers if no limits apply', async () => {
    await using limited = await startLimited({ staff: { limits: { '*': { minute: 5 } } } });
    const { headers } = await chat(limited.service);
    expect(Object.keys(headers).filter((name) => name.startsWith('x-ratelimit'))).toEqual([]);
  });
});

describe('a token limit for embeddings', () => {
  const vectors = (fields: object) => jsonReply({ object: 'list', data: [], ...fields });
  const send = (service: Awaited<ReturnType<typeof startLimited>>['service'], input: unknown) =>
    service.sendRequest({
      path: '/openai/deployments/vectors/embeddings',
      headers: { 'api-key': 'caller-key', 'content-type': 'application/json' },
      body: { input },
    });

  it('counts tokens, reports them in headers, and rejects calls', async () => {
    await using limited = await startLimited(byMinute(30));
    const { service, upstream } = limited;
    upstream.script(vectors({ usage: { prompt_tokens: 30, total_tokens: 30 } }));
    const { headers } = await send(service, 'text');
    expect(headers).toMatchObject({ 'x-ratelimit-remaining-tokens': '30', 'x-ratelimit-remaining-requests': '99' });
    const rejected = await send(service, 'text');
    expect([rejected.status, rejected.error.code]).toEqual([429, 'token_limit_exceeded']);
    expect(rejected.headers).toMatchObject({ 'retry-after': '30', 'x-ratelimit-remaining-tokens': '0' });
    expect(await readUsed(service, 'vectors')).toEqual({ minuteTokenStats: 30, dayRequestStats: 1 });
  });

  it.each([
    ['x'.repeat(40), 10],
    [['x'.repeat(40), 'x'.repeat(4)], 11],
    [[1, 2, 3], 3],
    [[[1, 2, 3], [4]], 4],
  ])('counts an estimate if the upstream reports no usage: %#', async (input, tokens) => {
    await using limited = await startLimited(byMinute(1000));
    const { service, upstream } = limited;
    upstream.script(vectors({}));
    expect((await send(service, input)).status).toBe(200);
    expect(await readUsed(service, 'vectors')).toMatchObject({ minuteTokenStats: tokens });
  });

  it('counts the input if the client disconnects', async () => {
    await using limited = await startLimited(byMinute(1000));
    const { service, upstream } = limited;
    upstream.script(silence);
    const headers = { 'api-key': 'caller-key', 'content-type': 'application/json' };
    const body = { model: 'vectors', input: 'x'.repeat(40) };
    const caller = sendAndDisconnect(service.url, { path: '/v1/embeddings', headers, body });
    await upstream.request(0);
    caller.disconnect();
    await vi.waitFor(async () => expect((await readUsed(service, 'vectors')).minuteTokenStats).toBe(10), 8_000);
  });

  it('counts no tokens if the upstream fails', async () => {
    await using limited = await startLimited(byMinute(1000));
    const { service, upstream } = limited;
    upstream.script(jsonReply({ error: { message: 'no' } }, 500));
    expect((await send(service, 'x'.repeat(40))).status).toBe(500);
    expect(await readUsed(service, 'vectors')).toEqual({ minuteTokenStats: 0, dayRequestStats: 1 });
  });
});
