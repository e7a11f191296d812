import { createServer, type ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { Flood, readSlowly } from './slow-reader.ts';
import { clientKinds, createFactory, post, Recording, Servers, sleep, toPost, toRequest, waitUntil } from './support.ts';

describe.each(clientKinds)('%s', (_name, Client) => {
  const newClient = createFactory(Client);

  it.each([0, 5, 20_000, 3_000_000])('sends the request line, headers, and a body of %i bytes', async (size) => {
    await using servers = new Servers();
    const body = Buffer.alloc(size);
    for (let index = 0; index < size; index++) body[index] = index % 251;
    let received: unknown;
    const server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const { method, url, headers } = request;
      received = {
        method,
        url,
        key: headers['api-key'],
        type: headers['content-type'],
        length: headers['content-length'],
        host: headers.host,
      };
      response.end(Buffer.concat(chunks));
    });
    const port = await servers.listen(server);
    const recording = new Recording();
    const headers = { 'Api-Key': 'k\xe9y', 'content-type': 'application/json' };
    newClient().send(toPost(`http://localhost:${port}/a%20b?c=d&e`, body, { headers }), recording);
    await recording.settled;
    expect(recording.error).toBeNull();
    expect(received).toEqual({
      method: 'POST',
      url: '/a%20b?c=d&e',
      key: 'k\xe9y',
      type: 'application/json',
      length: String(size),
      host: `localhost:${port}`,
    });
    expect(recording.body === body.toString('latin1')).toBe(true);
  });

  it('sends no content-length with a GET', async () => {
    await using servers = new Servers();
    const server = createServer((request, response) => {
      response.end(`${request.method} ${request.headers['content-length'] ?? 'none'}`);
    });
    const recording = new Recording();
    newClient().send(toRequest(`http://127.0.0.1:${await servers.listen(server)}/`), recording);
    expect((await recording.settled).body).toBe('GET none');
  });

  it('returns headers with lower-case names, joined duplicates, latin1 values, and no prototype', async () => {
    await using servers = new Servers();
    const url = await servers.startReplying(
      'HTTP/1.1 200 OK\r\nX-A: 1\r\nx-a:\t2 \r\n__proto__: p\r\nEmpty:\r\nX-L: \xe9\r\nContent-Length: 2\r\n\r\nok',
    );
    const { status, headers } = await post(newClient(), url);
    expect(status).toBe(200);
    expect(Object.getPrototypeOf(headers)).toBeNull();
    expect(Object.entries(headers)).toEqual([
      ['x-a', '1, 2'],
      ['__proto__', 'p'],
      ['empty', ''],
      ['x-l', '\xe9'],
      ['content-length', '2'],
    ]);
  });

  it('skips interim responses', async () => {
    await using servers = new Servers();
    const url = await servers.startReplying(
      'HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok',
    );
    const recording = await post(newClient(), url);
    expect([recording.status, recording.body, recording.calls]).toEqual([201, 'ok', ['head', 'bytes', 'end']]);
    expect(recording.headers.link).toBeUndefined();
  });

  it.each(['204 No Content', '304 Not Modified'])('reads no body for %s', async (line) => {
    await using servers = new Servers();
    const recording = await post(newClient(), await servers.startReplying(`HTTP/1.1 ${line}\r\nETag: "a"\r\n\r\n`));
    expect(recording.calls).toEqual(['head', 'end']);
  });

  it('reads a chunked reply byte by byte and drops its trailers', async () => {
    await using servers = new Servers();
    const reply = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\nA\r\n, world...\r\n0\r\nX-T: 1\r\n\r\n';
    const url = await servers.startRaw((socket) => {
      socket.once('data', async () => {
        for (const byte of reply) {
          socket.write(byte);
          await sleep(0);
        }
      });
    });
    const recording = await post(newClient(), url);
    expect(recording.error).toBeNull();
    expect(recording.body).toBe('hello, world...');
    expect(recording.headers['x-t']).toBeUndefined();
  });

  it('passes on the chunks of one read as one piece', async () => {
    await using servers = new Servers();
    const url = await servers.startReplying(
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n3\r\ndef\r\n1\r\ng\r\n0\r\n\r\n',
    );
    expect((await post(newClient(), url)).pieces).toEqual(['abcdefg']);
  });

  it('returns all bytes unchanged', async () => {
    await using servers = new Servers();
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, index) => index));
    const server = createServer((_request, response) => void response.end(bytes));
    const recording = await post(newClient(), `http://127.0.0.1:${await servers.listen(server)}/`);
    expect(Buffer.from(recording.body, 'latin1').equals(bytes)).toBe(true);
  });

  it('reads a body that ends with the connection', async () => {
    await using servers = new Servers();
    const recording = await post(newClient(), await servers.startReplying('HTTP/1.1 200 OK\r\n\r\nall of it', true));
    expect([recording.error, recording.body]).toEqual([null, 'all of it']);
  });

  it('does not follow redirects', async () => {
    await using servers = new Servers();
    const server = createServer((_request, response) => {
      response.writeHead(302, { location: '/elsewhere' }).end('hello');
    });
    const recording = await post(newClient(), `http://127.0.0.1:${await servers.listen(server)}/`);
    expect([recording.status, recording.body]).toEqual([302, 'hello']);
  });

  it('reuses a connection after a complete reply', async () => {
    await using servers = new Servers();
    const server = createServer((_request, response) => void response.end('ok'));
    const url = `http://127.0.0.1:${await servers.listen(server)}/`;
    const client = newClient();
    for (let nth = 0; nth < 3; nth++) {
      expect((await post(client, url)).body).toBe('ok');
      await sleep(5);
    }
    expect(servers.sockets.length).toBe(1);
  });

  it.each([
    ['connection: close', 'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok'],
    ['connection: x, Close', 'HTTP/1.1 200 OK\r\nConnection: x, Close\r\nContent-Length: 2\r\n\r\nok'],
    ['HTTP/1.0', 'HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok'],
    [
      'keep-alive: timeout=0',
      'HTTP/1.1 200 OK\r\nKeep-Alive: timeout=0\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok',
    ],
  ])('does not reuse a connection after %s', async (_what, reply) => {
    await using servers = new Servers();
    const url = await servers.startReplying(reply);
    const client = newClient();
    expect((await post(client, url)).body).toBe('ok');
    await sleep(5);
    expect((await post(client, url)).body).toBe('ok');
    expect(servers.sockets.length).toBe(2);
  });

  it('slows the server while it is paused, without losing data', async () => {
    await using servers = new Servers();
    const flood = new Flood(64 * 1024 * 1024);
    const url = `http://127.0.0.1:${await servers.listen(createServer(flood.answer))}/`;
    const { paused, fault: error, gotBytes } = await readSlowly(newClient(), url, flood);
    expect(paused.gotBytes).toBeLessThan(200_000);
    expect(paused.sentBytes).toBeLessThan(flood.totalBytes / 2);
    expect([error, gotBytes]).toEqual([null, flood.totalBytes]);
  });

  it('carries many streams concurrently', async () => {
    await using servers = new Servers();
    const running: ServerResponse[] = [];
    let wasReleased = false;
    const server = createServer((_request, response) => {
      response.write('a');
      running.push(response);
      wasReleased ||= running.length > 100;
      if (wasReleased) for (const open of running.splice(0)) open.end('b');
    });
    const url = `http://127.0.0.1:${await servers.listen(server)}/`;
    const client = newClient();
    const all = await Promise.all(Array.from({ length: 300 }, () => post(client, url)));
    expect(all.every((recording) => recording.body === 'ab')).toBe(true);
  });

  it('reads a reply that arrives before the request is sent completely', async () => {
    await using servers = new Servers();
    const url = await servers.startRaw((socket) => {
      socket.once('data', () => {
        socket.pause();
        socket.write('HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig');
      });
    });
    const recording = new Recording();
    const client = newClient();
    client.send(toPost(url, Buffer.alloc(20_000_000)), recording);
    await recording.settled;
    expect([recording.error, recording.status, recording.body]).toEqual([null, 413, 'big']);
    const next = new Recording();
    client.send(toPost(url, 'x'), next);
    expect((await next.settled).status).toBe(413);
    expect(servers.sockets.length).toBe(2);
  });

  it('closes idle connections on close, but not active ones', async () => {
    await using servers = new Servers();
    const server = createServer((request, response) => {
      if (request.url === '/slow') setTimeout(() => response.end('slow'), 200);
      else response.end('ok');
    });
    const url = `http://127.0.0.1:${await servers.listen(server)}/`;
    const client = newClient();
    const slow = post(client, `${url}slow`);
    await post(client, url);
    client.close();
    await waitUntil(() => servers.sockets[1]?.destroyed === true);
    expect((await slow).body).toBe('slow');
    await waitUntil(() => servers.sockets[0]?.destroyed === true);
  });
});
