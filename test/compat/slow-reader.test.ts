import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { delta, finish, hello, text } from '#test/chunks.ts';
import { expectClosedOnDisconnect } from '#test/closed-while-open.ts';
import { collectGarbage } from '#test/collect-garbage.ts';
import { openResponses } from '#test/response-stores.ts';
import { startScriptedUpstream, toEvent, type UpstreamExchange } from '#test/scripted-upstream.ts';
import { callerKey, startService, withKey } from '#test/start-service.ts';
import { untilStill } from '#test/until-still.ts';

const megabyte = 1024 * 1024;
const pieceBytes = 64 * 1024;
const offeredBytes = 160 * megabyte;
/** Upper bound of two pairs of loopback socket buffers. */
const maxBufferedBytes = 48 * megabyte;
const maxMemoryBytes = 16 * megabyte;

/** Returns a long reply that is written at the reader's rate. */
function createLongReply() {
  const progress = { sentBytes: 0, isOver: false };
  const piece = toEvent(text('x'.repeat(pieceBytes)));
  const reply = async ({ response, received }: UpstreamExchange): Promise<void> => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(toEvent(delta({ role: 'assistant', content: '' })));
    while (progress.sentBytes < offeredBytes && received.isOpen) {
      progress.sentBytes += piece.length;
      if (!response.write(piece)) await Promise.race([once(response, 'drain'), received.closed]);
    }
    progress.isOver = true;
    response.end(`${toEvent(finish())}data: [DONE]\n\n`);
  };
  return { progress, reply };
}

const twoKeys = { [callerKey]: { project: 'test' }, 'other-key': { project: 'other' } };

function measureMemory(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

describe('client that does not read', () => {
  it('pauses the upstream, uses little memory, and receives the complete reply when it reads again', async () => {
    const { progress, reply } = createLongReply();
    await using upstream = await startScriptedUpstream(reply);
    await using service = await startService({
      models: { m: { upstreams: [{ endpoint: upstream.endpoint, timeouts: { idleMs: 500 } }] } },
    });
    const beforeBytes = measureMemory();
    const reader = await service.stream('m', { messages: hello });
    reader.pause();
    await untilStill(() => progress.sentBytes);
    expect(progress.isOver).toBe(false);
    expect(progress.sentBytes).toBeLessThan(maxBufferedBytes);
    expect(measureMemory() - beforeBytes).toBeLessThan(maxMemoryBytes);
    let pieces = 0;
    for (let data = await reader.next(); data !== undefined; data = await reader.next())
      if (data.length > pieceBytes) pieces += 1;
    expect(pieces).toBe(Math.ceil(offeredBytes / toEvent(text('x'.repeat(pieceBytes))).length));
    expect(progress.isOver).toBe(true);
  });

  it('cancels the upstream request when it disconnects', async () => {
    const { progress, reply } = createLongReply();
    await using upstream = await startScriptedUpstream(reply);
    await using service = await startService({ models: { m: { upstreams: [{ endpoint: upstream.endpoint }] } } });
    const reader = await service.stream('m', { messages: hello });
    reader.pause();
    await untilStill(() => progress.sentBytes);
    await expectClosedOnDisconnect(await upstream.request(0), () => reader.disconnect());
    await vi.waitUntil(() => service.inFlightCalls.size === 0, { interval: 5 });
  });
});

describe('clients that do not read stored chats', () => {
  it('have at most 64 MiB of unread replies of a user, until they disconnect', async () => {
    await using database = await openResponses('SQLite');
    await using service = await startService({ keys: twoKeys }, { chats: database.chats() });
    const send = (method: string, body?: object, key: string = callerKey) =>
      service.sendRequest({ method, path: '/v1/chats/a', body, headers: withKey(key) });
    const turns = Array.from({ length: 14 }, (_, nth) => ({
      ...{ id: `t${nth}`, parent: '', kind: 'question', atMs: 1 },
      text: 'x'.repeat(megabyte),
    }));
    for (const key of [callerKey, 'other-key']) expect((await send('POST', { turns }, key)).status).toBe(200);
    const openUnread = async (): Promise<IncomingMessage> => {
      const [response] = await once(get(`${service.url}/v1/chats/a`, { headers: { 'api-key': callerKey } }), 'response');
      return response.pause();
    };
    const unread = await Promise.all(Array.from({ length: 4 }, openUnread));
    const rejected = await send('GET');
    expect([unread.map(({ statusCode }) => statusCode), rejected.status, rejected.headers['retry-after']]).toEqual([
      [200, 200, 200, 200],
      503,
      '5',
    ]);
    expect((await send('GET', undefined, 'other-key')).status).toBe(200);
    for (const response of unread) response.destroy();
    await vi.waitUntil(async () => (await send('GET')).status === 200);
  });
});

it('has at most 64 MiB of unread items of a stored conversation', async () => {
  await using database = await openResponses('SQLite');
  const reportError = vi.fn();
  await using service = await startService({ keys: twoKeys }, { responses: database.stores(), reportError });
  const create = { path: '/v1/conversations', headers: withKey(), body: {} };
  const { id } = (await service.sendRequest(create)).json as { readonly id: string };
  const path = `/v1/conversations/${id}/items`;
  const items = [{ id: 'msg_1', type: 'message', role: 'user', content: 'x'.repeat(30 * megabyte) }];
  expect((await service.sendRequest({ path, headers: withKey(), body: { items } })).status).toBe(200);
  const openUnread = async (url: string): Promise<IncomingMessage> => {
    const [response] = await once(get(`${service.url}${url}`, { headers: { 'api-key': callerKey } }), 'response');
    return response.pause();
  };
  const unread = await Promise.all([openUnread(path), openUnread(`${path}/msg_1`)]);
  expect((await openUnread(path)).statusCode).toBe(503);
  // The client caused the rejection.
  expect(reportError).not.toHaveBeenCalled();
  for (const response of unread) response.destroy();
});

describe('idle stream', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it('receives a comment every 15 s that clients do not treat as an event', async () => {
    const started = Promise.withResolvers<UpstreamExchange>();
    await using upstream = await startScriptedUpstream(async (exchange) => {
      exchange.head();
      await exchange.events(delta({ role: 'assistant', content: 'first' }));
      started.resolve(exchange);
    });
    await using service = await startService({
      models: { m: { upstreams: [{ endpoint: upstream.endpoint, timeouts: { idleMs: 600_000 } }] } },
    });
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const reader = await service.stream('m', { messages: hello });
    await reader.next();
    const exchange = await started.promise;
    vi.advanceTimersByTime(14_999);
    vi.advanceTimersByTime(1);
    expect(await reader.comment()).toBe(': ping');
    vi.advanceTimersByTime(15_000);
    expect(await reader.comment()).toBe(': ping');
    await exchange.events(text(' last'), finish());
    exchange.done();
    const { content, comments, isDone } = await reader.readRest();
    expect([content(), comments.length, isDone]).toEqual(['first last', 2, true]);
  });
});
