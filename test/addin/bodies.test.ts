import { createHash } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { errorReply, jsonReply, silence, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { messagesPath, origin, RawCaller, sendRaw, startGateway, startRawUpstream } from './support.ts';

const bounds = { maxBytes: 300_000, maxBufferedBytes: 1_000 };

function digest(bytes: string | Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function toPost(length: number): string {
  return `POST ${messagesPath} HTTP/1.1\r\nHost: g\r\nOrigin: ${origin}\r\nConnection: close\r\nContent-Length: ${length}\r\n\r\n`;
}

describe('a body', () => {
  it.each([0, 1, 999, 1_000, 1_001, 70_000, 300_000])(
    'of %i bytes is forwarded completely, with a known length or in chunks',
    async (size) => {
      const body = Array.from({ length: size }, (_, index) => String.fromCharCode(32 + (index % 90))).join('');
      await using upstream = await startScriptedUpstream(jsonReply({}));
      await using gateway = await startGateway(upstream.url, { bounds });
      expect((await gateway.post({}, body)).status).toBe(200);
      expect((await gateway.post({ 'transfer-encoding': 'chunked' }, body)).status).toBe(200);
      for (const { text, headers } of upstream.requests) {
        expect(digest(text)).toBe(digest(body));
        expect(headers.connection).toBeUndefined();
        expect(headers.host).toBe(new URL(upstream.url).host);
      }
      expect(upstream.requests[0]?.headers['content-length']).toBe(String(size));
    },
  );

  it('that is large is forwarded while it arrives, with the same headers', async () => {
    await using upstream = await startRawUpstream(() => undefined);
    await using gateway = await startGateway(upstream.url, { bounds });
    const caller = new RawCaller(gateway.url);
    caller.send(
      `POST ${messagesPath} HTTP/1.1\r\nHost: g\r\nx-api-key: k\r\nX-Own: 1\r\nX-Own: 2\r\nContent-Length: 5000\r\n\r\nthe first`,
    );
    await vi.waitUntil(() => upstream.received[0]?.endsWith('the first'), { interval: 10 });
    expect(upstream.received[0]?.replace(new URL(upstream.url).port, 'PORT')).toBe(
      `POST ${messagesPath} HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nx-api-key: \r\nX-Real-IP: 127.0.0.1\r\n` +
        'X-Forwarded-For: 127.0.0.1\r\nX-Forwarded-Proto: http\r\nApi-Key: k\r\nX-Own: 1\r\nX-Own: 2\r\nContent-Length: 5000\r\n\r\nthe first',
    );
    caller.socket.destroy();
  });

  it('that is large is forwarded no faster than the upstream reads it', async () => {
    const size = 200_000_000;
    await using upstream = await startRawUpstream(() => undefined);
    upstream.onConnection((socket) => socket.pause());
    await using gateway = await startGateway(upstream.url, { bounds: { maxBytes: size, maxBufferedBytes: 1_000 } });
    const caller = new RawCaller(gateway.url);
    caller.send(toPost(size));
    let sentLength = 0;
    const piece = 'x'.repeat(64 * 1024);
    const writeMore = (): void => {
      while (sentLength < size && caller.socket.write(piece)) sentLength += piece.length;
    };
    caller.socket.on('drain', writeMore);
    writeMore();
    let before = -1;
    await vi.waitUntil(
      () => {
        const isStalled = sentLength === before;
        before = sentLength;
        return isStalled;
      },
      { interval: 300, timeout: 15_000 },
    );
    expect(sentLength).toBeLessThan(64_000_000);
    caller.socket.destroy();
  });

  it('is rejected before it arrives if its declared length is too large', async () => {
    await using upstream = await startScriptedUpstream(jsonReply({}));
    await using gateway = await startGateway(upstream.url, { bounds });
    const text = await sendRaw(gateway.url, toPost(300_001));
    expect(text).toMatch(/^HTTP\/1.1 413 /);
    expect(text).toMatch(/request_too_large/);
    expect(text).toMatch(new RegExp(`Access-Control-Allow-Origin: ${origin}`));
    expect(upstream.requests).toEqual([]);
  });

  it('is rejected when it exceeds the maximum size, and the upstream connection closes', async () => {
    await using upstream = await startRawUpstream(() => undefined);
    await using gateway = await startGateway(upstream.url, { bounds });
    const { status, json } = await gateway.post({ 'transfer-encoding': 'chunked' }, 'x'.repeat(300_001));
    expect([status, json]).toMatchObject([413, { error: { type: 'request_too_large' } }]);
    await vi.waitUntil(() => upstream.openCount() === 0, { interval: 10 });
  });

  it('that is small and incomplete is never forwarded', async () => {
    await using upstream = await startScriptedUpstream(silence);
    await using gateway = await startGateway(upstream.url, { bounds });
    const caller = new RawCaller(gateway.url);
    caller.send(`${toPost(10)}half`);
    await vi.waitUntil(() => gateway.gateway.size === 1, { interval: 10 });
    caller.socket.destroy();
    await vi.waitUntil(() => gateway.gateway.size === 0, { interval: 10 });
    expect(upstream.requests).toEqual([]);
  });
});

describe('a reply during an upload', () => {
  it('is relayed, and the connection serves the next request after the rest of the body', async () => {
    const early = 'HTTP/1.1 401 Unauthorized\r\ncontent-length: 4\r\n\r\nnope';
    const size = 16_000_000;
    const shouldReject = Promise.withResolvers<void>();
    await using upstream = await startRawUpstream(() => undefined);
    upstream.onConnection((socket) =>
      socket.once('data', async () => {
        socket.pause();
        await shouldReject.promise;
        socket.write(early);
      }),
    );
    await using gateway = await startGateway(upstream.url, { bounds: { maxBytes: size, maxBufferedBytes: 1_000 } });
    const caller = new RawCaller(gateway.url);
    caller.send(toPost(size).replace('Connection: close\r\n', ''));
    caller.send(`${'x'.repeat(size)}OPTIONS / HTTP/1.1\r\nHost: g\r\n\r\n`);
    await vi.waitUntil(() => upstream.openCount() === 1, { interval: 10 });
    shouldReject.resolve();
    await caller.until(/nope[\s\S]*204 No Content/);
    caller.socket.destroy();
  });

  it('is an error of the gateway if the upstream cannot be reached', async () => {
    await using gateway = await startGateway('http://127.0.0.1:9', { bounds });
    const { status, headers } = await gateway.post({}, 'x'.repeat(50_000));
    expect([status, headers['access-control-allow-origin']]).toEqual([502, origin]);
  });

  it.each([
    [
      'breaks the client connection if the reply of the upstream breaks off',
      'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhello',
      /hello$/,
      'closed',
    ],
    ['is a 502 error if the upstream closes without a reply', '', /^HTTP\/1.1 502 /, 'closed'],
  ])('%s', async (_title, reply, expected, kind) => {
    await using upstream = await startRawUpstream((socket) => socket.end(reply));
    await using gateway = await startGateway(upstream.url, { bounds });
    const text = await sendRaw(gateway.url, toPost(50_000) + 'x'.repeat(50_000));
    expect(text).toMatch(expected);
    await vi.waitUntil(() => gateway.records.length === 1);
    expect(gateway.records[0]?.error?.kind).toBe(kind);
  });

  it('is a 504 error if the upstream takes too long', async () => {
    await using upstream = await startScriptedUpstream(silence);
    await using gateway = await startGateway(upstream.url, {
      bounds,
      timeouts: { connectMs: 5_000, firstByteMs: 200, idleMs: 200 },
    });
    expect((await gateway.post({}, 'x'.repeat(50_000))).status).toBe(504);
  });

  it('is streamed to the client like any other reply', async () => {
    await using upstream = await startScriptedUpstream(async (exchange) => {
      exchange.head();
      await exchange.bytes('data: one\n\n');
      exchange.done();
    }, errorReply(429));
    await using gateway = await startGateway(upstream.url, { bounds });
    const { text, headers } = await gateway.post({}, 'x'.repeat(50_000));
    expect([text, headers['access-control-allow-origin']]).toEqual(['data: one\n\ndata: [DONE]\n\n', origin]);
    expect((await gateway.post({}, 'x'.repeat(50_000))).status).toBe(429);
  });
});
