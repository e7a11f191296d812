import { describe, expect, it } from 'vitest';
import { clientKinds, createFactory, longTimeouts, post, Recording, Servers, sleep, toPost, waitUntil } from './support.ts';

describe.each(clientKinds)('%s', (_name, Client) => {
  const newClient = createFactory(Client);

  it('reports connect if no server listens', async () => {
    const recording = await post(newClient(), 'http://127.0.0.1:1/');
    expect(recording.error?.kind).toBe('connect');
    expect(recording.calls).toEqual(['fail']);
  });

  it('reports connect for an unknown host name', async () => {
    const client = newClient({ lookup: (_name, _options, found) => found(new Error('no such name'), '', 4) });
    expect((await post(client, 'http://nowhere.example/')).error?.kind).toBe('connect');
  });

  it.each(['http', 'https'])('limits the time to connect over %s', async (protocol) => {
    await using servers = new Servers();
    const silent = new URL(await servers.startRaw(() => undefined));
    const client = newClient(protocol === 'http' ? { lookup: () => undefined } : {});
    const recording = new Recording();
    const startMs = performance.now();
    client.send(
      toPost(`${protocol}://localhost:${silent.port}/`, '', { timeouts: { ...longTimeouts, connectMs: 100 } }),
      recording,
    );
    await recording.settled;
    const tookMs = performance.now() - startMs;
    expect(recording.error?.kind).toBe('connect_timeout');
    expect(tookMs).toBeGreaterThanOrEqual(99);
  });

  it.each([
    ['no byte', ''],
    ['incomplete headers', 'HTTP/1.1 200 OK\r\n'],
    ['an interim reply only', 'HTTP/1.1 103 Early Hints\r\n\r\n'],
    ['only headers', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n'],
  ])('limits the time to the first byte: %s', async (_what, part) => {
    await using servers = new Servers();
    const url = await servers.startRaw((socket) => {
      socket.once('data', () => void socket.write(part));
    });
    const recording = new Recording();
    const startMs = performance.now();
    newClient().send(toPost(url, '', { timeouts: { ...longTimeouts, firstByteMs: 100 } }), recording);
    expect((await recording.settled).error?.kind).toBe('first_byte_timeout');
    expect(performance.now() - startMs).toBeGreaterThanOrEqual(99);
    await waitUntil(() => servers.sockets[0]?.destroyed === true);
  });

  it('limits the time between two reads, not the total time', async () => {
    await using servers = new Servers();
    const url = await servers.startRaw((socket) => {
      socket.once('data', async () => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n');
        for (let nth = 0; nth < 8; nth++) {
          await sleep(100);
          socket.write('x');
        }
      });
    });
    const recording = new Recording();
    newClient().send(toPost(url, '', { timeouts: { ...longTimeouts, idleMs: 600 } }), recording);
    await recording.settled;
    expect([recording.error?.kind, recording.body]).toEqual(['idle_timeout', 'xxxxxxxx']);
    await waitUntil(() => servers.sockets[0]?.destroyed === true);
  });

  it('does not count paused time', async () => {
    await using servers = new Servers();
    const written = Promise.withResolvers<void>();
    const url = await servers.startRaw((socket) => {
      socket.once('data', async () => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na');
        await sleep(500);
        socket.write('b', () => written.resolve());
      });
    });
    const recording = new Recording();
    const exchange = newClient().send(toPost(url, '', { timeouts: { ...longTimeouts, idleMs: 120 } }), recording);
    recording.onHead = () => exchange.pause();
    await written.promise;
    exchange.resume();
    await recording.settled;
    expect([recording.error, recording.body]).toEqual([null, 'ab']);
  });

  it.each([
    ['before the headers', ''],
    ['in the headers', 'HTTP/1.1 200 OK\r\nContent-Le'],
    ['in a body with a length', 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc'],
    ['in a chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc'],
    ['before the last chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n'],
  ])('reports closed if the server ends %s', async (_where, part) => {
    await using servers = new Servers();
    const recording = await post(newClient(), await servers.startReplying(part, true));
    expect(recording.error?.kind).toBe('closed');
    expect(recording.body).toBe(part.includes('\r\n\r\n') ? 'abc' : '');
  });

  it.each([
    ['not HTTP', 'SSH-2.0-OpenSSH_9.6\r\n'],
    ['two framings', 'HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd'],
    ['a bad chunk size', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n'],
    ['an upgrade', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'],
    ['endless headers', `HTTP/1.1 200 OK\r\nA: ${'x'.repeat(100_000)}`],
  ])('reports malformed for %s', async (_what, reply) => {
    await using servers = new Servers();
    const recording = await post(newClient(), await servers.startReplying(reply));
    expect(recording.error?.kind).toBe('malformed');
    await waitUntil(() => servers.sockets[0]?.destroyed === true);
  });

  it('returns the content before the error', async () => {
    await using servers = new Servers();
    const recording = await post(
      newClient(),
      await servers.startReplying('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\n'),
    );
    expect(recording.calls).toEqual(['head', 'bytes', 'fail']);
    expect(recording.body).toBe('abc');
  });

  it('closes the connection on cancel without further events', async () => {
    await using servers = new Servers();
    const url = await servers.startRaw((socket) => {
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
        setInterval(() => socket.write('1\r\nx\r\n'), 5).unref();
      });
    });
    const recording = new Recording();
    const exchange = newClient().send(toPost(url, ''), recording);
    await waitUntil(() => recording.pieces.length > 1);
    exchange.cancel();
    const before = recording.calls.length;
    exchange.cancel();
    exchange.pause();
    exchange.resume();
    await waitUntil(() => servers.sockets[0]?.destroyed === true);
    expect(recording.calls.length).toBe(before);
  });

  it.each(['head', 'bytes'])('can be canceled inside %s', async (where) => {
    await using servers = new Servers();
    const url = await servers.startReplying('HTTP/1.1 200 OK\r\nContent-Length: 30\r\n\r\nabc');
    const recording = new Recording();
    const exchange = newClient().send(toPost(url, ''), recording);
    if (where === 'head') recording.onHead = () => exchange.cancel();
    else recording.onBytes = () => exchange.cancel();
    await waitUntil(() => servers.sockets[0]?.destroyed === true);
    expect(recording.calls).toEqual(where === 'head' ? ['head'] : ['head', 'bytes']);
  });

  it.each([0, 1, 5, 20])('can be canceled %i ms after the request was sent', async (afterMs) => {
    await using servers = new Servers();
    const url = await servers.startRaw((socket) => void socket.resume());
    const recording = new Recording();
    const exchange = newClient().send(toPost(url, 'x'), recording);
    if (afterMs > 0) await sleep(afterMs);
    exchange.cancel();
    await sleep(50);
    expect(recording.calls).toEqual([]);
    await waitUntil(() => servers.sockets.every((socket) => socket.destroyed));
  });

  it.each([
    ['a line break in a value', { 'x-a': 'b\r\nx-evil: 1' }],
    ['a line break in a name', { 'x-a: b\r\nx-evil': '1' }],
    ['a wide character', { 'x-a': '\u0100' }],
    ['a second framing', { 'Transfer-Encoding': 'chunked' }],
    ['a second length', { 'Content-Length': '3' }],
    ['another host', { HOST: 'b' }],
  ])('rejects requests with %s before it sends data', async (_what, headers) => {
    await using servers = new Servers();
    const url = await servers.startRaw(() => undefined);
    const recording = new Recording();
    newClient().send(toPost(url, 'x', { headers: headers as Record<string, string> }), recording);
    expect(recording.calls).toEqual([]);
    await recording.settled;
    expect(recording.error?.kind).toBe('unsendable');
    expect(servers.sockets.length).toBe(0);
  });

  it('rejects other protocols', async () => {
    expect((await post(newClient(), 'ftp://127.0.0.1/')).error?.kind).toBe('unsendable');
  });
});
