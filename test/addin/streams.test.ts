import { once } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
import { expectClosedOnDisconnect } from '#test/closed-while-open.ts';
import { findFreePort } from '#test/listening.ts';
import { jsonReply, piecesReply, silence, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { sendAndDisconnect } from '#test/send-request.ts';
import { messagesPath, origin, RawCaller, sendRaw, startGateway, startRawUpstream } from './support.ts';

const timeouts = { connectMs: 60_000, firstByteMs: 60_000, idleMs: 60_000 };

function toPost(version: '1.0' | '1.1' = '1.1', ...fields: string[]): string {
  const head = [`POST ${messagesPath} HTTP/${version}`, 'Host: g', `Origin: ${origin}`, 'Content-Length: 2', ...fields];
  return `${head.join('\r\n')}\r\n\r\n{}`;
}

/** Returns the body of a response, with its chunks joined. */
function getBody(text: string): string {
  const body = text.slice(text.indexOf('\r\n\r\n') + 4);
  if (!/transfer-encoding: chunked/i.test(text)) return body;
  let joined = '';
  for (let index = 0; index < body.length; ) {
    const end = body.indexOf('\r\n', index);
    const size = Number.parseInt(body.slice(index, end), 16);
    joined += body.slice(end + 2, end + 2 + size);
    index = end + 4 + size;
  }
  return joined;
}

describe('a streamed reply', () => {
  it('arrives piece by piece, each as soon as the upstream sends it', async () => {
    const steps = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await using upstream = await startScriptedUpstream(async (exchange) => {
      exchange.head();
      await steps[0]?.promise;
      await exchange.bytes('data: one\n\n');
      await steps[1]?.promise;
      exchange.done();
    });
    await using gateway = await startGateway(upstream.url);
    const caller = new RawCaller(gateway.url);
    caller.send(toPost('1.1', 'Connection: close'));
    expect(await caller.until(/\r\n\r\n/)).toMatch(/^HTTP\/1.1 200 OK\r\n/);
    expect(getBody(caller.text)).toBe('');
    steps[0]?.resolve();
    expect(getBody(await caller.until(/one\n\n/))).toBe('data: one\n\n');
    steps[1]?.resolve();
    await caller.closed;
    expect(getBody(caller.text)).toBe('data: one\n\ndata: [DONE]\n\n');
    expect(caller.text).toMatch(/\r\n0\r\n\r\n$/);
  });

  it('is relayed byte for byte, for any bytes in pieces of any size', async () => {
    const bytes = Buffer.from(Array.from({ length: 4096 }, (_, index) => (index * 7 + (index >> 8)) % 256));
    const cuts = [0, 1, 2, 700, 701, 4096];
    const pieces = cuts.slice(1).map((end, index) => bytes.subarray(cuts[index], end));
    await using upstream = await startScriptedUpstream(piecesReply(...pieces));
    await using gateway = await startGateway(upstream.url);
    expect(getBody(await sendRaw(gateway.url, toPost('1.1', 'Connection: close')))).toBe(bytes.toString('latin1'));
    expect(getBody(await sendRaw(gateway.url, toPost('1.0')))).toBe(bytes.toString('latin1'));
  });

  it('has its head and first bytes in one segment if the upstream sends them in one', async () => {
    await using upstream = await startRawUpstream((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n');
    });
    await using gateway = await startGateway(upstream.url);
    const caller = new RawCaller(gateway.url);
    caller.send(toPost());
    const [first] = (await once(caller.socket, 'data')) as [string];
    expect(first).toMatch(/\r\n\r\n5\r\nhello\r\n$/);
    caller.socket.destroy();
  });

  it('with a compressed body remains compressed', async () => {
    await using upstream = await startRawUpstream((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 4\r\n\r\n\x1f\x8b\x08\x00', 'latin1');
    });
    await using gateway = await startGateway(upstream.url);
    const text = await sendRaw(gateway.url, toPost('1.1', 'Connection: close'));
    expect(text).toMatch(/content-encoding: gzip/i);
    expect(getBody(text)).toBe('\x1f\x8b\x08\x00');
  });

  it.each([204, 304])('with status %i has no body', async (status) => {
    await using upstream = await startRawUpstream((socket) => socket.write(`HTTP/1.1 ${status} X\r\netag: "a"\r\n\r\n`));
    await using gateway = await startGateway(upstream.url);
    const text = await sendRaw(gateway.url, toPost('1.1', 'Connection: close'));
    expect(text).toMatch(new RegExp(`^HTTP/1.1 ${status}`));
    expect(text).toMatch(/\r\n\r\n$/);
    expect(text).not.toMatch(/transfer-encoding/i);
  });

  it('slows down the upstream if the client does not read', async () => {
    let writtenLength = 0;
    const piece = 'x'.repeat(64 * 1024);
    await using upstream = await startRawUpstream((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000000000\r\n\r\n');
      const writeMore = (): void => {
        while (!socket.destroyed && writtenLength < 500_000_000 && socket.write(piece)) writtenLength += piece.length;
      };
      socket.on('drain', writeMore);
      writeMore();
    });
    await using gateway = await startGateway(upstream.url);
    const caller = new RawCaller(gateway.url);
    caller.send(toPost());
    await once(caller.socket, 'data');
    caller.socket.pause();
    let before = -1;
    await vi.waitUntil(
      () => {
        const isStalled = writtenLength === before;
        before = writtenLength;
        return isStalled;
      },
      { interval: 300, timeout: 15_000 },
    );
    expect(writtenLength).toBeLessThan(64_000_000);
    caller.socket.resume();
    await vi.waitUntil(() => writtenLength > before, { interval: 20 });
    caller.socket.destroy();
  });
});

describe('a reply that breaks off', () => {
  const cases: [string, '1.0' | '1.1', string][] = [
    ['in chunks', '1.1', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n'],
    ['of a known length', '1.1', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhello'],
    ['to an old client', '1.0', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n'],
  ];
  it.each(cases)('%s breaks the connection without a regular end', async (_description, version, reply) => {
    await using upstream = await startRawUpstream((socket) => socket.end(reply));
    await using gateway = await startGateway(upstream.url);
    const caller = new RawCaller(gateway.url);
    const socketError = new Promise((resolve) => caller.socket.once('error', resolve));
    caller.send(toPost(version));
    await caller.closed;
    expect(caller.text).not.toMatch(/0\r\n\r\n$/);
    if (version === '1.0') expect(await socketError).toMatchObject({ code: 'ECONNRESET' });
    await vi.waitUntil(() => gateway.records.length === 1);
    expect(gateway.records[0]).toMatchObject({ status: 200, outcome: 'failed', error: { kind: 'closed' } });
  });

  it('by stalling breaks the connection too', async () => {
    await using upstream = await startRawUpstream((socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhello'));
    await using gateway = await startGateway(upstream.url, { timeouts: { ...timeouts, idleMs: 300 } });
    const text = await sendRaw(gateway.url, toPost());
    expect(text).toMatch(/hello$/);
    await vi.waitUntil(() => gateway.records.length === 1);
    expect(gateway.records[0]?.error?.kind).toBe('idle_timeout');
  });
});

describe('a missing reply', () => {
  const cors = { 'access-control-allow-origin': origin, 'access-control-allow-credentials': 'true', vary: 'Origin' };

  it('of an unreachable upstream results in 502 with the CORS headers', async () => {
    await using gateway = await startGateway(`http://127.0.0.1:${await findFreePort()}`);
    const { status, headers, json } = await gateway.post();
    expect([status, headers['cache-control']]).toEqual([502, 'no-store']);
    expect(headers).toMatchObject(cors);
    expect(json).toEqual({
      type: 'error',
      error: {
        type: 'api_error',
        message: 'The upstream service is unreachable or closed the connection. Try again.',
      },
    });
  });

  it.each([
    ['violates HTTP', 'HTTP/1.1 banana\r\n\r\n'],
    ['sends no bytes', ''],
    ['sends two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab'],
  ])('of an upstream that %s results in 502', async (_description, bytes) => {
    await using upstream = await startRawUpstream((socket) => socket.end(bytes, 'latin1'));
    await using gateway = await startGateway(upstream.url);
    const { status, headers } = await gateway.post();
    expect([status, headers]).toMatchObject([502, cors]);
  });

  it('within the timeout results in 504, and the upstream request is canceled', async () => {
    await using upstream = await startScriptedUpstream(silence);
    await using gateway = await startGateway(upstream.url, { timeouts: { ...timeouts, firstByteMs: 300 } });
    const { status, headers, json } = await gateway.post();
    expect([status, headers, json]).toMatchObject([504, cors, { error: { type: 'api_error' } }]);
    expect((await upstream.requests[0]?.closed)?.early).toBe(true);
  });
});

describe('a client that disconnects', () => {
  it('cancels the upstream request before the response head', async () => {
    await using upstream = await startScriptedUpstream(silence);
    await using gateway = await startGateway(upstream.url);
    const { disconnect } = sendAndDisconnect(gateway.url, { path: messagesPath, body: '{}' });
    await expectClosedOnDisconnect(await upstream.request(0), disconnect);
    await vi.waitUntil(() => gateway.records.length === 1);
    expect(gateway.records[0]).toMatchObject({ status: 499, outcome: 'left' });
  });

  it('cancels the upstream request during a stream', async () => {
    await using upstream = await startScriptedUpstream(async (exchange) => {
      exchange.head();
      await exchange.bytes('data: one\n\n');
    });
    await using gateway = await startGateway(upstream.url);
    const caller = new RawCaller(gateway.url);
    caller.send(toPost());
    await caller.until(/one/);
    await expectClosedOnDisconnect(await upstream.request(0), () => caller.socket.destroy());
  });

  it('ends the call during an upload', async () => {
    await using upstream = await startRawUpstream(() => undefined);
    await using gateway = await startGateway(upstream.url);
    const caller = new RawCaller(gateway.url);
    caller.send(`POST ${messagesPath} HTTP/1.1\r\nHost: g\r\nContent-Length: 1000000\r\n\r\n${'x'.repeat(100_000)}`);
    await vi.waitUntil(() => (upstream.received[0]?.length ?? 0) > 50_000, { interval: 10 });
    caller.socket.destroy();
    await vi.waitUntil(() => gateway.records.length === 1, { interval: 10 });
    expect(gateway.gateway.size).toBe(0);
  });
});

describe('a gateway that shuts down', () => {
  it('finishes calls in progress, and rejects new calls with the CORS headers', async () => {
    const continueStream = Promise.withResolvers<void>();
    await using upstream = await startScriptedUpstream(async (exchange) => {
      exchange.head();
      await continueStream.promise;
      exchange.done();
    });
    await using gateway = await startGateway(upstream.url);
    const first = gateway.post();
    await upstream.request(0);
    const closed = gateway.gateway.close();
    const { status, headers, json } = await gateway.post();
    expect([status, headers['retry-after'], json]).toMatchObject([503, '1', { error: { type: 'overloaded_error' } }]);
    expect(headers['access-control-allow-origin']).toBe(origin);
    expect(gateway.gateway.size).toBe(1);
    continueStream.resolve();
    expect((await first).text).toBe('data: [DONE]\n\n');
    await closed;
    expect(gateway.gateway.size).toBe(0);
  });
});

describe('connections', () => {
  it('are reused on both sides after every kind of response', async () => {
    await using upstream = await startRawUpstream(
      (socket) => void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'),
    );
    await using gateway = await startGateway(upstream.url);
    const caller = new RawCaller(gateway.url);
    const turns: [string, RegExp][] = [
      [toPost(), /ok$/],
      [`GET /elsewhere HTTP/1.1\r\nHost: g\r\nContent-Length: 3\r\n\r\nabc`, /not_found_error.*\}\}$/],
      [`OPTIONS / HTTP/1.1\r\nHost: g\r\n\r\n`, /204 No Content[\s\S]*\r\n\r\n$/],
      [toPost(), /ok$/],
    ];
    for (const [request, answer] of turns) {
      caller.text = '';
      caller.send(request);
      await caller.until(answer);
    }
    caller.socket.destroy();
    expect(upstream.received).toHaveLength(1);
  });

  it('return pipelined responses in order', async () => {
    await using upstream = await startScriptedUpstream(async (exchange) => {
      exchange.head();
      await exchange.bytes('first');
      exchange.response.end();
    }, jsonReply('second'));
    await using gateway = await startGateway(upstream.url);
    const text = await sendRaw(
      gateway.url,
      `${toPost()}OPTIONS / HTTP/1.1\r\nHost: g\r\n\r\n${toPost('1.1', 'Connection: close')}`,
    );
    expect(text).toMatch(/^HTTP\/1.1 200 OK[\s\S]*first[\s\S]*HTTP\/1.1 204 No Content[\s\S]*HTTP\/1.1 200 OK[\s\S]*"second"/);
  });
});
