import { describe, expect, it } from 'vitest';
import { jsonReply, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { askRaw, type GatewayOptions, messagesPath, startGateway, startRawUpstream } from './support.ts';

const emptyReply = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}';

/** The request as the service reads it, for a request as a caller writes it; the port of the service stands as PORT. */
async function sentUp(request: string, options: GatewayOptions = {}): Promise<string> {
  await using upstream = await startRawUpstream((socket) => socket.end(emptyReply));
  await using gateway = await startGateway(upstream.url, options);
  await askRaw(gateway.url, request);
  return (upstream.heard[0] ?? '').replace(new URL(upstream.url).port, 'PORT');
}

function toHead(...fields: string[]): string {
  return `${[`GET ${messagesPath} HTTP/1.1`, 'Host: gateway.example', 'Connection: close', ...fields].join('\r\n')}\r\n\r\n`;
}

describe('what the service is sent', () => {
  it('is exactly this: HTTP/1.1, its own Host, no Connection field', async () => {
    const fields = ['x-api-key: k', 'Content-Type: application/json', 'Content-Length: 2', 'msgapi-version: 2023-06-01'];
    const request = `POST ${messagesPath}?a=b HTTP/1.1\r\nHost: gateway.example\r\nConnection: close\r\n${fields.join('\r\n')}\r\n\r\n{}`;
    expect(await sentUp(request)).toBe(
      `POST ${messagesPath}?a=b HTTP/1.1\r\n` +
        'Host: 127.0.0.1:PORT\r\n' +
        'x-api-key: \r\nX-Real-IP: 127.0.0.1\r\nX-Forwarded-For: 127.0.0.1\r\nX-Forwarded-Proto: http\r\nApi-Key: k\r\n' +
        'Content-Type: application/json\r\nmsgapi-version: 2023-06-01\r\nContent-Length: 2\r\n\r\n{}',
    );
  });

  it('has version, cache policy and every other end-to-end field unchanged, repeated ones too', async () => {
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
    const head = (await sentUp(toHead(...fields))).split('\r\n');
    expect(head).toEqual(expect.arrayContaining(fields));
  });

  it('has no field of one connection, none named by Connection, and no cookie', async () => {
    const fields = ['Keep-Alive: 5', 'Proxy-Connection: x', 'Proxy-Authorization: Basic eA', 'TE: trailers', 'Trailer: x'];
    const more = ['Upgrade: websocket', 'Connection: X-Named, upgrade', 'X-Named: 1', 'Cookie: a=b', 'Cookie2: c', 'X-Kept: 1'];
    const head = await sentUp(toHead(...fields, ...more, 'Authorization: Bearer t'));
    expect(head).toContain('X-Kept: 1');
    expect(head).not.toMatch(/^(keep-alive|proxy-|te|trailer|upgrade|connection|x-named|cookie|authorization)/im);
  });

  it('cannot lose what the gateway sets through Connection', async () => {
    const head = await sentUp(toHead('Connection: Api-Key, X-Real-IP, Host', 'x-api-key: k'));
    expect(head).toMatch(/^Host: 127.0.0.1:PORT\r$/m);
    expect(head).toMatch(/^Api-Key: k\r$/m);
    expect(head).toMatch(/^X-Real-IP: 127.0.0.1\r$/m);
  });
});

describe('the caller’s address', () => {
  const spoofed = [
    'X-Real-IP: 6.6.6.6',
    'X-Forwarded-For: 6.6.6.6',
    'X-Forwarded-Proto: https',
    'X-Forwarded-Host: evil.example',
    'Forwarded: for=6.6.6.6',
  ];

  it('is that of the connection, whatever the caller says', async () => {
    const head = await sentUp(toHead(...spoofed));
    expect(head).not.toMatch(/6\.6\.6\.6|evil|https/);
    expect(head).toMatch(/X-Real-IP: 127.0.0.1\r\nX-Forwarded-For: 127.0.0.1\r\nX-Forwarded-Proto: http\r\n/);
  });

  it('is what a trusted proxy says: the nearest that is none itself', async () => {
    const trusting = { trustedProxies: ['127.0.0.0/8', '10.0.0.0/8'] };
    const told = 'X-Forwarded-For: 6.6.6.6, 203.0.113.7, 10.0.0.1';
    expect(await sentUp(toHead(told, 'X-Forwarded-Proto: https'), trusting)).toMatch(
      /X-Real-IP: 203.0.113.7\r\nX-Forwarded-For: 6.6.6.6, 203.0.113.7, 10.0.0.1, 127.0.0.1\r\nX-Forwarded-Proto: https\r\n/,
    );
    expect(await sentUp(toHead('X-Forwarded-For: junk', 'X-Forwarded-Proto: gopher'), trusting)).toMatch(
      /X-Real-IP: junk\r\nX-Forwarded-For: junk, 127.0.0.1\r\nX-Forwarded-Proto: http\r\n/,
    );
    expect(await sentUp(toHead(), trusting)).toMatch(/X-Real-IP: 127.0.0.1\r\nX-Forwarded-For: 127.0.0.1\r\n/);
  });
});

describe('what the caller is sent', () => {
  it('has the fields of the reply, but no cookie and none of one connection', async () => {
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

describe('an allow-list of origins', () => {
  const allowedOrigins = ['https://addin.example', 'null'];

  it('lets its own through', async () => {
    await using upstream = await startScriptedUpstream(jsonReply({}));
    await using gateway = await startGateway(upstream.url, { allowedOrigins });
    for (const origin of allowedOrigins) {
      const { status, headers } = await gateway.post({ origin });
      expect([status, headers['access-control-allow-origin']]).toEqual([200, origin]);
    }
  });

  it.each(['https://evil.example', 'https://addin.example.evil.example', 'http://addin.example', 'https://addin.example:8443'])(
    'keeps %s out: no Allow-Origin, and nothing forwarded',
    async (origin) => {
      await using upstream = await startScriptedUpstream(jsonReply({}));
      await using gateway = await startGateway(upstream.url, { allowedOrigins });
      const refused = await gateway.post({ origin });
      expect([refused.status, refused.json]).toMatchObject([403, { type: 'error', error: { type: 'permission_error' } }]);
      const list = await gateway.ask({ method: 'GET', path: '/msgapi/v1/models', headers: { origin } });
      const preflight = await gateway.ask({ method: 'OPTIONS', path: messagesPath, headers: { origin } });
      expect([list.status, preflight.status]).toEqual([403, 204]);
      for (const { headers } of [refused, list, preflight]) {
        expect(headers).not.toHaveProperty('access-control-allow-origin');
        expect(headers).toMatchObject({ 'access-control-allow-credentials': 'true', vary: 'Origin' });
      }
      expect(upstream.requests).toEqual([]);
    },
  );

  it('does not stand against callers that are no pages', async () => {
    await using upstream = await startScriptedUpstream(jsonReply({}));
    await using gateway = await startGateway(upstream.url, { allowedOrigins: [] });
    expect((await gateway.ask({ path: messagesPath, body: '{}' })).status).toBe(200);
    expect((await gateway.post({ origin: 'https://addin.example' })).status).toBe(403);
  });
});
