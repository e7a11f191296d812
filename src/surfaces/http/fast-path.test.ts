import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import fastify from 'fastify';
import { describe, expect, it } from 'vitest';
import { FastPath } from './fast-path.ts';
import { serveCalls, serveRaw } from './serve-raw.ts';

const route = '/calls/*';

/**
 * Sends one raw request. Returns the path that it took through the server, its status, and the first 8 characters of the
 * response body.
 */
async function send(head: string): Promise<string> {
  const paths: string[] = [];
  const fastPath = new FastPath(() => 'new-id');
  const app = fastify({
    serverFactory(framework) {
      const long: RequestListener = (request, response) => {
        paths.push('long');
        framework(request, response);
      };
      return createServer({ requireHostHeader: false }, fastPath.before(long));
    },
  });
  fastPath.collectRoutes(app);
  const serve = async ({ response, id }: { response: { end(text: string): void }; id: string }): Promise<void> =>
    response.end(id);
  serveCalls(app, route, serve);
  serveCalls(app, '/exact', serve);
  serveRaw(app, 'POST', '/other/*', serve);
  await app.listen({ port: 0, host: '127.0.0.1' });
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
  socket.end(`${head}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`);
  let answer = '';
  socket.on('data', (bytes: Buffer) => {
    answer += bytes.toString('latin1');
  });
  await once(socket, 'close');
  await app.close();
  return `${paths[0] ?? 'short'} ${/HTTP\/1.1 ([2-5]\d\d)/.exec(answer)?.[1]} ${answer.split('\r\n\r\n').at(-1)?.slice(0, 8)}`;
}

const host = '\r\nhost: parley';

describe('FastPath for plain calls', () => {
  it.each([
    ['below the route', '/calls/a/b'],
    ['at the route', '/exact'],
    ['with a query', '/calls/a?api-version=2024-10-21'],
  ])('serves a call %s', async (_, url) => {
    expect(await send(`POST ${url} HTTP/1.1${host}`)).toBe('short 200 new-id');
  });

  it('uses the request ID that the client sends', async () => {
    expect(await send(`POST /exact HTTP/1.1${host}\r\nx-request-id: my-id`)).toBe('short 200 my-id');
  });
});

describe('FastPath for other requests', () => {
  it.each([
    ['with an encoded path', `POST /calls/a%2Fb HTTP/1.1${host}`],
    ['with an Expect header', `POST /calls/a HTTP/1.1${host}\r\nexpect: 100-continue`],
    ['without a host', 'POST /calls/a HTTP/1.1'],
    ['with an absolute URL', `POST http://parley/calls/a HTTP/1.1${host}`],
    ['over HTTP/1.0', `POST /calls/a HTTP/1.0${host}`],
    ['to a route without a fast path', `POST /other/a HTTP/1.1${host}`],
    ['with a query on an exact route', `POST /exact?a=b HTTP/1.1${host}`],
  ])('leaves a request to the framework: %s', async (_, head) => {
    expect(await send(head)).toMatch(/^long 200 /);
  });

  it.each([
    ['with another method', `PUT /calls/a HTTP/1.1${host}`],
    ['to another path', `POST /exact/a HTTP/1.1${host}`],
    ['to no path', `POST /calls HTTP/1.1${host}`],
  ])('leaves a request without a route to the framework: %s', async (_, head) => {
    expect(await send(head)).toMatch(/^long 404 /);
  });
});
