import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as passed } from 'node:timers/promises';
import { deflateSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { getBucket } from '#test/buckets.ts';
import { plainCompletion } from '#test/chunks.ts';
import { startPaced } from '#test/paced-server.ts';
import { jsonReply, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { callerKey, startService, withKey } from '#test/start-service.ts';
import { getApplicationPath } from '../applications/support.ts';
import { requireInTime } from './fuzz-support.ts';
import { type FullService, startFullService } from './support.ts';

const bucket = getBucket('key:test');
let fullService: FullService;

beforeAll(async () => {
  fullService = await startFullService((url) => ({
    models: { gpt: { upstreams: [{ endpoint: `${url}/v1` }] } },
    applications: { app: { endpoint: `${url}/app`, features: { consentRequired: true } } },
  }));
});

afterAll(() => fullService[Symbol.asyncDispose]());

/** Routes that accept a body. */
const routesWithBody: readonly (readonly [method: string, path: string])[] = [
  ['POST', '/openai/deployments/gpt/chat/completions'],
  ['POST', '/v1/chat/completions'],
  ['POST', '/v1/embeddings'],
  ['POST', '/msgapi/v1/messages'],
  ['POST', '/msgapi/v1/messages/count_tokens'],
  ['POST', '/v1/consent/app'],
  ['POST', '/v1/import-openapi'],
  ['POST', '/v1/tools/list'],
  ['PUT', getApplicationPath('mine', bucket)],
  ['PUT', `/v1/files/${bucket}/a`],
];

describe('compressed body', () => {
  it.each(routesWithBody)('is rejected without decompression: %s %s', async (method, path) => {
    const packed = {
      gzip: gzipSync(Buffer.alloc(10_000_000)),
      deflate: deflateSync('{}'),
      'gzip, gzip': Buffer.from('x'),
      br: Buffer.from('x'),
    };
    for (const [encoding, body] of Object.entries(packed)) {
      const { status } = await fullService.service.sendRequest({
        method,
        path,
        headers: { ...withKey(), 'content-encoding': encoding },
        body,
      });
      expect([encoding, status]).toEqual([encoding, 415]);
    }
  });
});

describe('JSON body', () => {
  const json = routesWithBody.filter((_taker, index) => [0, 3, 5].includes(index));
  it.each(json)('with a million values or extreme nesting is rejected in time: %s %s', async (method, path) => {
    for (const body of [
      `[${'[],'.repeat(170_000)}0]`,
      `{"messages":[${'{},'.repeat(1_100_000)}0]}`,
      '['.repeat(100_000),
      `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`,
    ]) {
      const { status } = await requireInTime(fullService.service.sendRequest({ method, path, headers: withKey(), body }), path);
      expect(status).toBeGreaterThanOrEqual(400);
      expect(status).toBeLessThan(500);
    }
  });
});

describe('multipart form', () => {
  it.each([
    ['dashes after its boundary', `--B${'-'.repeat(5_000_000)}`],
    ['endless partial boundaries', `--B\r\nContent-Disposition: form-data; name="f"\r\n\r\n${'\r\n--'.repeat(1_000_000)}`],
    ['endless headers', `--B\r\n${'a: b\r\n'.repeat(1_000_000)}`],
  ])('with %s is rejected in time', async (_what, body) => {
    const request = { method: 'PUT', path: `/v1/files/${bucket}/a`, body };
    const headers = { ...withKey(), 'content-type': 'multipart/form-data; boundary=B' };
    expect((await requireInTime(fullService.service.sendRequest({ ...request, headers }), 'the form')).status).toBe(400);
  });
});

describe('header', () => {
  const units = [
    ' ',
    '"',
    ',',
    ';',
    '; ',
    '; boundary="',
    'bearer ',
    'a.',
    '=',
    'bytes=',
    '-',
    '\\',
    'W/"',
    '/',
    '%',
    'q=0.',
    'A',
  ];
  const names = [
    ...['authorization', 'content-type', 'content-encoding', 'if-match', 'if-none-match', 'if-range', 'range', 'traceparent'],
    ...['tracestate', 'accept-encoding', 'x-request-id', 'origin', 'anthropic-beta', 'api-key', 'cookie', 'x-forwarded-for'],
  ];

  it.each(names)('with one repeated character or word is answered in time: %s', async (name) => {
    for (const unit of units) {
      const value = `${unit.repeat(13_000 / unit.length)}x`;
      for (const [method, path] of [
        ['GET', '/'],
        ['POST', '/msgapi/v1/messages'],
        ['PUT', `/v1/files/${bucket}/a`],
      ] as const) {
        const response = fullService.service.sendRequest({ method, path, headers: { ...withKey(), [name]: value }, body: '{}' });
        expect((await requireInTime(response, `${name} ${unit}`)).status).toBeLessThan(500);
      }
    }
  });

  it('is rejected with 431 if it is too long or one of too many', async () => {
    const { port } = new URL(fullService.service.url);
    for (const fields of [`x: ${'x'.repeat(20_000)}\r\n`, 'x: y\r\n'.repeat(10_000)]) {
      const socket = connect(Number(port), '127.0.0.1').on('error', () => undefined);
      socket.write(`GET /health HTTP/1.1\r\nhost: x\r\n${fields}\r\n`);
      const [data] = (await once(socket, 'data')) as [Buffer];
      expect(String(data)).toMatch(/^HTTP\/1\.1 431 /);
      socket.destroy();
    }
  });
});

async function readAll(socket: Socket): Promise<string> {
  let data = '';
  socket.setEncoding('utf8').on('data', (piece: string) => {
    data += piece;
  });
  if (!socket.destroyed) await once(socket, 'close');
  return data;
}

describe('slow body', () => {
  it('is rejected if it arrives too slowly or never arrives', async () => {
    const { open } = await startPaced();
    const trickle = open('/');
    const timer = setInterval(() => trickle.write('x'), 20);
    onTestFinished(() => clearInterval(timer));
    expect(await Promise.all([readAll(trickle), readAll(open('/'))])).toEqual([
      'refused: ERR_HTTP_REQUEST_TIMEOUT',
      'refused: ERR_HTTP_REQUEST_TIMEOUT',
    ]);
  });

  it('is read completely if it arrives fast enough, regardless of the total time', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const { server, open } = await startPaced();
    const connected = once(server, 'connection') as Promise<[Socket]>;
    const socket = open('/');
    const response = readAll(socket);
    const [serverSocket] = await connected;
    for (let sent = 0; sent < 6_000; sent += 1_200) {
      socket.write('x'.repeat(1_200));
      while (serverSocket.bytesRead < socket.bytesWritten) await passed(1);
      vi.advanceTimersByTime(100);
    }
    expect(await response).toMatch(/whole$/);
  });

  it('is not rejected if the handler does not read it yet', async () => {
    const { open } = await startPaced();
    const socket = open('/later');
    socket.write('x'.repeat(6_000));
    expect(await readAll(socket)).toMatch(/whole$/);
  });

  it('ends the answer that has already started', async () => {
    const { open } = await startPaced();
    expect(await readAll(open('/early'))).toMatch(/begun\r\n$/);
  });
});

describe('large bodies of one user', () => {
  const mebibyte = 1024 ** 2;
  const content = 'x'.repeat(3 * mebibyte);
  const path = '/v1/chat/completions';
  const body = JSON.stringify({ model: 'gpt', messages: [{ role: 'user', content }] });

  it.each([
    ['an announced length', `content-length: ${body.length}\r\n\r\n${body.slice(0, -1)}`],
    ['chunks', `transfer-encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n`],
  ])('are limited from the start of a body with %s to the end of the response', async (_form, request) => {
    const upstream = await startScriptedUpstream(jsonReply(plainCompletion('hi')));
    await using service = await startService(
      {
        keys: { [callerKey]: { project: 'test' }, 'another-key': { project: 'other' } },
        models: { gpt: { upstreams: [{ endpoint: `${upstream.url}/v1` }] } },
      },
      { maxUserInputBytes: 4 * mebibyte },
    );
    onTestFinished(() => upstream.close());
    const send = (key: string, text: string) =>
      service.sendRequest({ path, headers: { ...withKey(key), 'content-type': 'application/json' }, body: text });
    const connected = once(service.app.server, 'connection') as Promise<[Socket]>;
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    socket.on('error', () => undefined);
    const [serverSocket] = await connected;
    socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\napi-key: ${callerKey}\r\ncontent-type: application/json\r\n${request}`);

    // Otherwise the next body could be counted first.
    await expect.poll(() => serverSocket.bytesRead, { timeout: 20_000 }).toBe(socket.bytesWritten);

    const rejected = await send(callerKey, body);
    expect(rejected.status).toBe(503);
    expect(rejected.headers['retry-after']).toBe('5');
    expect(JSON.parse(rejected.text)).toMatchObject({ error: { code: 'overloaded', type: 'server_overloaded' } });
    expect((await send(callerKey, body.replace(content, 'Hi'))).status).toBe(200);
    expect((await send('another-key', body)).status).toBe(200);
    socket.destroy();
    await expect.poll(async () => (await send(callerKey, body)).status, { timeout: 20_000 }).toBe(200);
  });
});

describe('service', () => {
  it('allows 15 s for headers and no fixed time for bodies', () => {
    const { headersTimeout, requestTimeout } = fullService.service.app.server;
    expect([headersTimeout, requestTimeout]).toEqual([15_000, 0]);
    // The framework, the rate limit for bodies, and the test hook that observes answers.
    expect(fullService.service.app.server.listenerCount('request')).toBe(3);
  });

  it('closes a connection after an invalid request even if the client keeps it open', async () => {
    const socket = connect({ port: Number(new URL(fullService.service.url).port), host: '127.0.0.1', allowHalfOpen: true });
    socket.on('error', () => undefined).resume();
    socket.write('this is no HTTP\r\n\r\n');
    await once(socket, 'end');
    const connections = (): Promise<number> =>
      new Promise((resolve) => fullService.service.app.server.getConnections((_error, count) => resolve(count)));
    await expect.poll(connections, { interval: 50, timeout: 5_000 }).toBe(0);
    socket.destroy();
  });

  const message = { role: 'user', content: 'Hi.' };
  const chat = ['/openai/deployments/gpt/chat/completions', { messages: [message] }] as const;
  const messages = ['/msgapi/v1/messages', { model: 'gpt', max_tokens: 9, messages: [message] }] as const;
  const responses = ['/v1/responses', { model: 'gpt', input: 'Hi.' }] as const;
  const notCounts = ['-1', '1.5', '"x"', '1e309', '-1e309'];
  const notPositive = [...notCounts, '0'];
  it.each([
    [...chat, 'max_tokens', notPositive],
    [...chat, 'n', [...notPositive, '129', '1e9']],
    [...chat, 'temperature', ['-1', '3', '"x"', '1e309']],
    [...chat, 'top_p', ['-1', '3', '"x"', '1e309']],
    [...chat, 'presence_penalty', ['-3', '"x"', '-1e309']],
    [...chat, 'frequency_penalty', ['3', '"x"', '1e309']],
    // 0 only writes the prompt cache.
    [...messages, 'max_tokens', notCounts],
    [...messages, 'temperature', ['-1', '3', '"x"', '1e309']],
    [...messages, 'top_p', ['-1', '3', '"x"', '1e309']],
    [...messages, 'top_k', notCounts],
    [...responses, 'max_output_tokens', notPositive],
    [...responses, 'max_tool_calls', notPositive],
    [...responses, 'temperature', ['-1', '3', '"x"', '1e309']],
    [...responses, 'top_p', ['-1', '3', '"x"', '1e309']],
    [...responses, 'top_logprobs', notCounts],
  ])('rejects a number that is out of range or not finite: %s %j %s', async (path, body, field, values) => {
    for (const value of values) {
      const { [field]: _valid, ...rest } = body as Record<string, unknown>;
      const text = `${JSON.stringify(rest).slice(0, -1)},"${field}":${value}}`;
      const answer = await fullService.service.sendRequest({
        ...{ path, body: text },
        headers: { ...withKey(), 'content-type': 'application/json' },
      });
      expect([text, answer.status, answer.text]).toEqual([text, 400, expect.stringContaining(`${field}`)]);
    }
  });
});
