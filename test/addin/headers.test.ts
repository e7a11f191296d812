import { describe, expect, it } from 'vitest';
import { jsonReply, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { type GatewayOptions, messagesPath, sendRaw, startGateway, startRawUpstream } from './support.ts';

const emptyReply = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}';

/** Returns the request that the upstream receives for a raw request, with the upstream's port replaced by PORT. */
async function forward(request: string, options: GatewayOptions = {}): Promise<string> {
  await using upstream = await startRawUpstream((socket) => socket.end(emptyReply));
  await using gateway = await startGateway(upstream.url, options);
  await sendRaw(gateway.url, request);
  return (upstream.received[0] ?? '').replace(new URL(upstream.url).port, 'PORT');
}

function toHead(...fields: string[]): string {
  return `${[`GET ${messagesPath} HTTP/1.1`, 'Host: gateway.example', 'Connection: close', ...fields].join('\r\n')}\r\n\r\n`;
}

describe('a request to the upstream', () => {
  it('uses HTTP/1.1 with the Host of the upstream and no Connection header', async () => {
    const fields = ['x-api-key: k', 'Content-Type: application/json', 'Content-Length: 2', 'msgapi-version: 2023-06-01'];
    const request = `POST ${messagesPath}?a=b HTTP/1.1\r\nHost: gateway.example\r\nConnection: close\r\n${fields.join('\r\n')}\r\n\r\n{}`;
    expect(await forward(request)).toBe(
      `POST ${messagesPath}?a=b HTTP/1.1\r\n` +
        'Host: 127.0.0.1:PORT\r\n' +
        'x-api-key: \r\nX-Real-IP: 127.0.0.1\r\nX-Forwarded-For: 127.0.0.1\r\nX-Forwarded-Proto: http\r\nApi-Key: k\r\n' +
        'Content-Type: application/json\r\nmsgapi-version: 2023-06-01\r\nContent-Length: 2\r\n\r\n{}',
    );
  });

  it('contains every end-to-end header unchanged, including repeated headers', async () => {
    const fields = [
      'msgapi-version: 2023-06-01',
      'X-CORE-CACHE-POLICY: cache-priority',
      'anthropic-version: 2023-06-01',
      'anthropic-beta: a',
      'Anthropic-Beta: b',
      'User-Agent: add-in/1',
      'Accept-Encoding: gzip, br',
      'Origin: https://addin.example',
      'X-Own: caf\xe9',
    ];
    const head = (await forward(toHead(...fields))).split('\r\n');
    expect(head).toEqual(expect.arrayContaining(fields));
  });

  it('contains no hop-by-hop headers, no headers that Connection names, and no cookies', async () => {
    const fields = ['Keep-Alive: 5', 'Proxy-Connection: x', 'Proxy-Authorization: Basic eA', 'TE: trailers', 'Trailer: x'];
    const moreFields = [
      'Upgrade: websocket',
      'Connection: X-Named, upgrade',
      'X-Named: 1',
      'Cookie: a=b',
      'Cookie2: c',
      'X-Kept: 1',
    ];
    const head = await forward(toHead(...fields, ...moreFields, 'Authorization: Bearer t'));
    expect(head).toContain('X-Kept: 1');
    expect(head).not.toMatch(/^(keep-alive|proxy-|te|trailer|upgrade|connection|x-named|cookie|authorization)/im);
  });

  it('retains the headers of the gateway even if Connection names them', async () => {
    const head = await forward(toHead('Connection: Api-Key, X-Real-IP, Host', 'x-api-key: k'));
    expect(head).toMatch(/^Host: 127.0.0.1:PORT\r$/m);
    expect(head).toMatch(/^Api-Key: k\r$/m);
    expect(head).toMatch(/^X-Real-IP: 127.0.0.1\r$/m);
  });
});

describe('the client address in forwarded headers', () => {
  const spoofed = [
    'X-Real-IP: 6.6.6.6',
    'X-Forwarded-For: 6.6.6.6',
    'X-Forwarded-Proto: https',
    'X-Forwarded-Host: evil.example',
    'Forwarded: for=6.6.6.6',
  ];

  it('is the address of the connection, and forwarded headers of the client are ignored', async () => {
    const head = await forward(toHead(...spoofed));
    expect(head).not.toMatch(/6\.6\.6\.6|evil|https/);
    expect(head).toMatch(/X-Real-IP: 127.0.0.1\r\nX-Forwarded-For: 127.0.0.1\r\nX-Forwarded-Proto: http\r\n/);
  });

  it('is the nearest untrusted address if a trusted proxy reports it', async () => {
    const options = { trustedProxies: ['127.0.0.0/8', '10.0.0.0/8'] };
    const forwardedFor = 'X-Forwarded-For: 6.6.6.6, 203.0.113.7, 10.0.0.1';
    expect(await forward(toHead(forwardedFor, 'X-Forwarded-Proto: https'), options)).toMatch(
      /X-Real-IP: 203.0.113.7\r\nX-Forwarded-For: 6.6.6.6, 203.0.113.7, 10.0.0.1, 127.0.0.1\r\nX-Forwarded-Proto: https\r\n/,
    );
    expect(await forward(toHead('X-Forwarded-For: junk', 'X-Forwarded-Proto: gopher'), options)).toMatch(
      /X-Real-IP: junk\r\nX-Forwarded-For: junk, 127.0.0.1\r\nX-Forwarded-Proto: http\r\n/,
    );
    expect(await forward(toHead(), options)).toMatch(/X-Real-IP: 127.0.0.1\r\nX-Forwarded-For: 127.0.0.1\r\n/);
  });
});

describe('a response to the client', () => {
  it('contains the headers of the reply, without cookies and hop-by-hop headers', async () => {
    const reply =
      'HTTP/1.1 201 Created\r\nContent-Type: text/plain\r\nX-Request-Id: r1\r\nSet-Cookie: a=b\r\nSet-Cookie: c=d\r\nSet-Cookie2: e\r\n' +
      'Connection: X-Hop\r\nX-Hop: 1\r\nKeep-Alive: timeout=5\r\nProxy-Authenticate: Basic\r\nContent-Length: 5\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\n\r\nhello';
    await using upstream = await startRawUpstream((socket) => void socket.write(reply));
    await using gateway = await startGateway(upstream.url);
    const answer = await gateway.post();
    expect([answer.status, answer.text]).toEqual([201, 'hello']);
    expect(answer.headers).toMatchObject({
      'content-type': 'text/plain',
      'x-request-id': 'r1',
      'content-length': '5',
      date: 'Thu, 01 Jan 1970 00:00:00 GMT',
    });
    for (const name of ['set-cookie', 'set-cookie2', 'x-hop', 'proxy-authenticate'])
      expect(answer.headers).not.toHaveProperty(name);
  });
});

describe('an allowlist of origins', () => {
  const allowedOrigins = ['https://addin.example', 'null'];

  it('admits requests from its origins', async () => {
    await using upstream = await startScriptedUpstream(jsonReply({}));
    await using gateway = await startGateway(upstream.url, { allowedOrigins });
    for (const origin of allowedOrigins) {
      const { status, headers } = await gateway.post({ origin });
      expect([status, headers['access-control-allow-origin']]).toEqual([200, origin]);
    }
  });

  it.each(['https://evil.example', 'https://addin.example.evil.example', 'http://addin.example', 'https://addin.example:8443'])(
    'rejects %s without Allow-Origin, and does not forward the request',
    async (origin) => {
      await using upstream = await startScriptedUpstream(jsonReply({}));
      await using gateway = await startGateway(upstream.url, { allowedOrigins });
      const rejected = await gateway.post({ origin });
      expect([rejected.status, rejected.json]).toMatchObject([403, { type: 'error', error: { type: 'permission_error' } }]);
      const list = await gateway.ask({ method: 'GET', path: '/msgapi/v1/models', headers: { origin } });
      const preflight = await gateway.ask({ method: 'OPTIONS', path: messagesPath, headers: { origin } });
      expect([list.status, preflight.status]).toEqual([403, 204]);
      for (const { headers } of [rejected, list, preflight]) {
        expect(headers).not.toHaveProperty('access-control-allow-origin');
        expect(headers).toMatchObject({ 'access-control-allow-credentials': 'true', vary: 'Origin' });
      }
      expect(upstream.requests).toEqual([]);
    },
  );

  it('does not apply to clients without an Origin header', async () => {
    await using upstream = await startScriptedUpstream(jsonReply({}));
    await using gateway = await startGateway(upstream.url, { allowedOrigins: [] });
    expect((await gateway.ask({ path: messagesPath, body: '{}' })).status).toBe(200);
    expect((await gateway.post({ origin: 'https://addin.example' })).status).toBe(403);
  });
});
