import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text as readAll } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { hello, plainCompletion, plainReply } from '#test/chunks.ts';
import { eventsReply, jsonReply, type Reply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { callerKey, getChatPath, startService, type TestService, withKey } from '#test/start-service.ts';

const streamOrJson: Reply = (exchange) =>
  (exchange.received.body.stream ? eventsReply(...plainReply('Grüße')) : jsonReply(plainCompletion('Grüße')))(exchange);

let upstream: ScriptedUpstream;
let service: TestService;
const sockets: Socket[] = [];

beforeAll(async () => {
  upstream = await startScriptedUpstream(streamOrJson);
  service = await startService({
    models: { m: { upstreams: [{ endpoint: upstream.endpoint }] } },
    security: { maxBodyBytes: 4_000_000 },
  });
});

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

afterAll(async () => {
  await service.close();
  await upstream.close();
});

function openRawConnection(...lines: string[]): Socket {
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
  socket.on('error', () => undefined);
  sockets.push(socket);
  socket.write(lines.join('\r\n'));
  return socket;
}

/** Returns the lines of a request with its body. */
function toLines(body: object, more: readonly string[] = [], version = '1.1'): string[] {
  const text = JSON.stringify(body);
  const head = [
    `POST ${getChatPath('m')} HTTP/${version}`,
    'host: x',
    `api-key: ${callerKey}`,
    'content-type: application/json',
    `content-length: ${text.length}`,
  ];
  return [...head, ...more, '', text];
}

describe('connection', () => {
  it('is closed with 400 after 250 waiting requests, and serves those', async () => {
    const get = `GET /v1/models HTTP/1.1\r\nhost: x\r\napi-key: ${callerKey}\r\n\r\n`;
    const received = await readAll(openRawConnection(get.repeat(300)));
    const statuses = received.match(/HTTP\/1\.1 \d{3}/g);
    expect(statuses).toEqual([...Array.from({ length: 251 }, () => 'HTTP/1.1 200'), 'HTTP/1.1 400']);
    expect(received).toContain('More than 250 requests of this connection wait for responses.');
  });

  it('serves 250 pipelined requests', async () => {
    const get = (more = '') => `GET /v1/models HTTP/1.1\r\nhost: x\r\napi-key: ${callerKey}\r\n${more}\r\n`;
    const received = await readAll(openRawConnection(get().repeat(249) + get('connection: close\r\n')));
    expect(received.match(/HTTP\/1\.1 \d{3}/g)).toEqual(Array.from({ length: 250 }, () => 'HTTP/1.1 200'));
  });

  it('serves several calls, regardless of the result of the previous call', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const used = new Set<unknown>();
    const post = (key: string, body: object): Promise<{ status: number; text: string }> =>
      new Promise((resolve, reject) => {
        const { port } = new URL(service.url);
        const clientRequest = request(
          { port, method: 'POST', path: getChatPath('m'), headers: withKey(key), agent },
          async (response) => {
            used.add(response.socket);
            resolve({ status: response.statusCode ?? 0, text: await readAll(response) });
          },
        );
        clientRequest.on('error', reject).end(JSON.stringify(body));
      });
    const large = { messages: [{ role: 'user', content: 'x'.repeat(2_000_000) }] };
    const answers = [
      await post(callerKey, { messages: hello }),
      await post('unknown', large),
      await post(callerKey, { messages: hello, stream: true }),
      await post(callerKey, { messages: [] }),
      await post(callerKey, large),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 401, 200, 400, 200]);
    expect(answers[2]?.text).toMatch(/data: \[DONE\]\n\n$/);
    expect(used.size).toBe(1);
    agent.destroy();
  });

  it('answers pipelined requests in their order', async () => {
    const bodies = [{ messages: hello, stream: true }, { messages: [] }, { messages: hello }];
    const socket = openRawConnection(
      ...bodies
        .flatMap((body, index) => toLines(body, index === 2 ? ['connection: close'] : []))
        .join('\r\n')
        .split('\r\n'),
    );
    const text = await readAll(socket);
    expect([...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual(['200', '400', '200']);
    expect(text.indexOf('[DONE]')).toBeLessThan(text.indexOf('HTTP/1.1 400'));
  });

  it('receives no second response inside a response after an invalid request', async () => {
    upstream.script(async (exchange) => {
      exchange.head();
      await exchange.events(plainReply('Hi')[0]);
    }, streamOrJson);
    const socket = openRawConnection(...toLines({ messages: hello, stream: true }));
    const [first] = (await once(socket, 'data')) as [Buffer];
    socket.write('\u0001 no request\r\n\r\n');
    const text = String(first) + (await readAll(socket));
    expect(text.match(/HTTP\/1\.1/g)).toHaveLength(1);
  });

  it('with HTTP/1.0 receives a stream without chunked encoding', async () => {
    const text = await readAll(openRawConnection(...toLines({ messages: hello, stream: true }, [], '1.0')));
    const [head = '', body = ''] = text.split(/\r\n\r\n(.*)/s);
    expect(head).toMatch(/^HTTP\/1\.[01] 200 /);
    expect(head).not.toMatch(/transfer-encoding/i);
    expect(body).toMatch(/^data: \{/);
    expect(body).toMatch(/data: \[DONE\]\n\n$/);
  });

  it('with HTTP/1.0 and chunked encoding is rejected before the upstream is called', async () => {
    const before = upstream.requests.length;
    const [head = ''] = toLines({ messages: hello }, [], '1.0').join('\r\n').split('\r\n\r\n');
    const body = JSON.stringify({ messages: hello });
    const chunked = `${head.replace(/content-length: \d+/i, 'transfer-encoding: chunked')}\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
    const text = await readAll(openRawConnection(chunked));
    expect(text).toMatch(/^HTTP\/1\.1 400 /);
    expect(text).toMatch(/connection: close/i);
    expect(text).toContain('HTTP/1.0 does not support Transfer-Encoding.');
    expect(upstream.requests.length).toBe(before);
  });

  it('continues immediately with Expect: 100-continue', async () => {
    const [head, body] = toLines({ messages: hello }, ['expect: 100-continue', 'connection: close'])
      .join('\r\n')
      .split('\r\n\r\n');
    const socket = openRawConnection(`${head}\r\n\r\n`);
    const [first] = (await once(socket, 'data')) as [Buffer];
    expect(String(first)).toMatch(/^HTTP\/1\.1 100 /);
    socket.write(body ?? '');
    expect(await readAll(socket)).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('with a body that is too large is answered while it sends, and is closed', async () => {
    const socket = openRawConnection(
      ...toLines({ messages: hello }).slice(0, -3),
      'content-length: 50000000',
      '',
      'x'.repeat(100_000),
    );
    const text = await readAll(socket);
    expect(text).toMatch(/^HTTP\/1\.1 413 /);
    expect(text).toMatch(/connection: close/i);
    expect(text).toContain('payload_too_large');
  });

  it('that ends inside the request body causes no upstream call', async () => {
    const before = upstream.requests.length;
    const socket = openRawConnection(...toLines({ messages: hello }).slice(0, -1), '{"messages"');
    socket.end();
    await once(socket.resume(), 'close');
    await expect.poll(() => service.inFlightCalls.size, { interval: 5 }).toBe(0);
    expect(upstream.requests.length).toBe(before);
  });

  it.each([
    ['two lengths', ['content-length: 3']],
    ['a length and chunks', ['transfer-encoding: chunked']],
    ['a folded header', ['x-a: b', ' folded']],
    ['an unknown transfer coding', ['transfer-encoding: gzip, chunked, x']],
    ['two hosts', ['Host: y']],
  ])('with %s in a request is rejected to prevent request smuggling', async (_what, more) => {
    const before = upstream.requests.length;
    const text = await readAll(openRawConnection(...toLines({ messages: hello }, [...more, 'connection: close'])));
    expect(text).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect(upstream.requests.length).toBe(before);
  });
});
