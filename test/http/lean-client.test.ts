import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import { LeanClient } from '#base/http/lean-client.ts';
import { longTimeouts, post, Recording, Servers, sleep, toPost, waitUntil } from './support.ts';

const okReply = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

/** Answers each request on a socket. The callback receives the index of the socket and of the request on it. */
function answerRequests(onRequest: (socket: Socket, nthSocket: number, nthRequest: number) => void) {
  return (socket: Socket, nthSocket: number): void => {
    let nthRequest = 0;
    socket.on('data', () => onRequest(socket, nthSocket, nthRequest++));
  };
}

describe('LeanClient', () => {
  it('skips 100 Continue', async () => {
    await using servers = new Servers();
    const url = await servers.startReplying(`HTTP/1.1 100 Continue\r\n\r\n${okReply}`);
    expect((await post(new LeanClient(), url)).calls).toEqual(['head', 'bytes', 'end']);
  });

  it('reuses the most recently used connection first', async () => {
    await using servers = new Servers();
    const used: number[] = [];
    const url = await servers.startRaw(
      answerRequests((socket, nthSocket) => {
        used.push(nthSocket);
        setTimeout(() => socket.write(okReply), nthSocket * 40);
      }),
    );
    const client = new LeanClient();
    await Promise.all([post(client, url), post(client, url), post(client, url)]);
    expect([...used].sort()).toEqual([0, 1, 2]);
    for (let nth = 0; nth < 3; nth++) await post(client, url);
    expect(used.slice(3)).toEqual([2, 2, 2]);
    client.close();
  });

  it.each([
    ['the announced time minus 1 s', 'Keep-Alive: timeout=2\r\n', 1000],
    ['the announced time minus 1 s, HTTP/1.0', 'Connection: keep-alive\r\nKeep-Alive: max=5, timeout=2\r\n', 1000],
  ])('keeps an idle connection for %s', async (what, field, maxIdleMs) => {
    await using servers = new Servers();
    const version = what.includes('1.0') ? '1.0' : '1.1';
    const url = await servers.startReplying(`HTTP/${version} 200 OK\r\n${field}Content-Length: 2\r\n\r\nok`);
    const client = new LeanClient();
    // A busy machine may extend a pause beyond the idle time. Then the pause is repeated.
    await vi.waitFor(async () => {
      await post(client, url);
      const socketCount = servers.sockets.length;
      await sleep(maxIdleMs / 2);
      await post(client, url);
      expect(servers.sockets.length).toBe(socketCount);
    });
    await expect.poll(() => servers.sockets.every(({ destroyed }) => destroyed)).toBe(true);
  });

  it.each(['end', 'reset'])('resends once if a reused connection closes by %s before the first byte', async (how) => {
    await using servers = new Servers();
    const url = await servers.startRaw(
      answerRequests((socket, _nthSocket, nthRequest) => {
        if (nthRequest === 0) socket.write(okReply);
        else if (how === 'end') socket.end();
        else socket.resetAndDestroy();
      }),
    );
    const client = new LeanClient();
    await post(client, url);
    const recording = await post(client, url, Buffer.alloc(100_000, 'a'));
    expect([recording.error, recording.body, servers.sockets.length]).toEqual([null, 'ok', 2]);
    client.close();
  });

  it('does not resend a request with isNotRepeatable', async () => {
    await using servers = new Servers();
    const url = await servers.startRaw(
      answerRequests((socket, _nthSocket, nthRequest) => {
        if (nthRequest === 0) socket.write(okReply);
        else socket.end();
      }),
    );
    const client = new LeanClient();
    await post(client, url);
    const recording = new Recording();
    client.send(toPost(url, 'order', { isNotRepeatable: true }), recording);
    await recording.settled;
    expect([recording.error?.kind, servers.sockets.length]).toEqual(['closed', 1]);
    client.close();
  });

  it('resends a request with isNotRepeatable if the connection closes before the request is written', async () => {
    await using servers = new Servers();
    const url = await servers.startRaw(answerRequests((socket) => socket.write(okReply)));
    const client = new LeanClient();
    await post(client, url);
    const sent = Promise.withResolvers<Recording>();
    servers.sockets[0]?.end(() => {
      // The client writes at the end of the turn of the timer, and reads the end of the connection before.
      setTimeout(() => sent.resolve(post(client, url, 'x', { isNotRepeatable: true })), 1);
      const startMs = performance.now();
      while (performance.now() - startMs < 5);
    });
    const recording = await sent.promise;
    expect([recording.error, recording.body, servers.sockets.length]).toEqual([null, 'ok', 2]);
    client.close();
  });

  it('does not resend twice', async () => {
    await using servers = new Servers();
    const url = await servers.startRaw(
      answerRequests((socket, nthSocket, nthRequest) => {
        if (nthSocket === 0 && nthRequest === 0) socket.write(okReply);
        else socket.end();
      }),
    );
    const client = new LeanClient();
    await post(client, url);
    expect((await post(client, url)).error?.kind).toBe('closed');
    expect(servers.sockets.length).toBe(2);
  });

  it.each([
    ['after a byte of the reply', 'H'],
    ['after an interim reply', 'HTTP/1.1 103 Early Hints\r\n\r\n'],
  ])('does not resend %s', async (_when, part) => {
    await using servers = new Servers();
    const url = await servers.startRaw(
      answerRequests((socket, _nthSocket, nthRequest) => {
        if (nthRequest === 0) socket.write(okReply);
        else socket.end(part);
      }),
    );
    const client = new LeanClient();
    await post(client, url);
    expect((await post(client, url)).error?.kind).toBe('closed');
    expect(servers.sockets.length).toBe(1);
  });

  it('does not resend after a time limit', async () => {
    await using servers = new Servers();
    const url = await servers.startRaw(
      answerRequests((socket, _nthSocket, nthRequest) => {
        if (nthRequest === 0) socket.write(okReply);
      }),
    );
    const client = new LeanClient();
    await post(client, url);
    const recording = new Recording();
    client.send(toPost(url, 'x', { timeouts: { ...longTimeouts, firstByteMs: 60 } }), recording);
    expect((await recording.settled).error?.kind).toBe('first_byte_timeout');
    expect(servers.sockets.length).toBe(1);
  });

  it('drops a connection with bytes after the reply, in the same or a later read', async () => {
    await using servers = new Servers();
    const url = await servers.startRaw(
      answerRequests((socket, nthSocket) => {
        if (nthSocket === 0) socket.write(`${okReply}HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil`);
        else {
          socket.write(okReply);
          setTimeout(() => socket.write('HTTP/1.1 200 OK\r\n'), 20);
        }
      }),
    );
    const client = new LeanClient();
    expect((await post(client, url)).body).toBe('ok');
    await waitUntil(() => servers.sockets[0]?.destroyed === true);
    expect((await post(client, url)).body).toBe('ok');
    await waitUntil(() => servers.sockets[1]?.destroyed === true);
    expect((await post(client, url)).body).toBe('ok');
    expect(servers.sockets.length).toBe(3);
    client.close();
  });

  it('drops a connection that the server closed while it was idle', async () => {
    await using servers = new Servers();
    const url = await servers.startRaw(
      answerRequests((socket) => {
        socket.write(okReply);
        setTimeout(() => socket.end(), 20);
      }),
    );
    const client = new LeanClient();
    await post(client, url);
    await waitUntil(() => servers.sockets[0]?.destroyed === true);
    await sleep(10);
    expect((await post(client, url)).body).toBe('ok');
    expect(servers.sockets.length).toBe(2);
  });

  it('does not fail except as malformed if a reply arrives before the request', async () => {
    await using servers = new Servers();
    const url = await servers.startRaw((socket) => void socket.write(okReply));
    const recording = await post(new LeanClient(), url);
    expect(recording.error === null || recording.error.kind === 'malformed').toBe(true);
  });

  it('reuses a connection after a reply that ended while paused', async () => {
    await using servers = new Servers();
    const url = await servers.startReplying(okReply);
    const client = new LeanClient();
    const recording = new Recording();
    const exchange = client.send(toPost(url, 'x'), recording);
    recording.onHead = () => exchange.pause();
    expect((await recording.settled).body).toBe('ok');
    expect((await post(client, url)).body).toBe('ok');
    expect(servers.sockets.length).toBe(1);
    client.close();
  });

  it('sends the next request from inside end on the same connection', async () => {
    await using servers = new Servers();
    const url = await servers.startReplying(okReply);
    const client = new LeanClient();
    const second = new Recording();
    await new Promise<void>((resolve) => {
      const first = new Recording();
      first.end = () => {
        client.send(toPost(url, 'x'), second);
        resolve();
      };
      client.send(toPost(url, 'x'), first);
    });
    expect((await second.settled).body).toBe('ok');
    expect(servers.sockets.length).toBe(1);
    client.close();
  });

  it('uses the current value of a modified URL object', async () => {
    await using servers = new Servers();
    const paths: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      paths.push(request.url);
      response.end('ok');
    });
    const client = new LeanClient();
    const request = toPost(`http://127.0.0.1:${await servers.listen(server)}/a`, 'x');
    for (const path of ['/a', '/b?c']) {
      const recording = new Recording();
      request.url.href = new URL(path, request.url).href;
      client.send(request, recording);
      await recording.settled;
    }
    expect(paths).toEqual(['/a', '/b?c']);
    client.close();
  });

  it('does not time out because the event loop was blocked', async () => {
    await using servers = new Servers();
    const url = await servers.startRaw((socket) => {
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na');
        setTimeout(() => socket.write('b'), 30);
      });
    });
    const recording = new Recording();
    new LeanClient().send(toPost(url, 'x', { timeouts: { ...longTimeouts, idleMs: 300 } }), recording);
    await waitUntil(() => recording.pieces.length === 1);
    const endMs = performance.now() + 1000;
    while (performance.now() < endMs);
    expect((await recording.settled).error).toBeNull();
  });
});
