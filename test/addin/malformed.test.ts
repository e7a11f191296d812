import { describe, expect, it } from 'vitest';
import { jsonReply, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { messagesPath, RawCaller, sendRaw, startGateway } from './support.ts';

const corsLines = [
  'Access-Control-Allow-Credentials: true',
  'Access-Control-Allow-Methods: GET, POST, OPTIONS',
  'Access-Control-Max-Age: 86400',
  'Vary: Origin',
];

describe('a malformed request', () => {
  it.each([
    ['bytes of another protocol', 400, '\x16\x03\x01\x02\x00\r\n\r\n'],
    ['an invalid request line', 400, 'hello\r\n\r\n'],
    [
      'both Content-Length and Transfer-Encoding',
      400,
      `POST ${messagesPath} HTTP/1.1\r\nHost: g\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    ['two lengths', 400, `POST ${messagesPath} HTTP/1.1\r\nHost: g\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab`],
    ['a header with a bare line feed', 400, `GET ${messagesPath} HTTP/1.1\r\nHost: g\r\nX: a\nApi-Key: b\r\n\r\n`],
    ['a folded header', 400, `GET ${messagesPath} HTTP/1.1\r\nHost: g\r\nX: a\r\n Api-Key: b\r\n\r\n`],
    ['a header with a NUL byte', 400, `GET ${messagesPath} HTTP/1.1\r\nHost: g\r\nX: a\x00b\r\n\r\n`],
    ['a header with a control character', 400, `GET ${messagesPath} HTTP/1.1\r\nHost: g\r\nX: a\x01b\r\n\r\n`],
    ['headers over the size limit', 431, `GET ${messagesPath} HTTP/1.1\r\nHost: g\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`],
    ['a CONNECT request', 404, 'CONNECT service.example:443 HTTP/1.1\r\nHost: service.example:443\r\n\r\n'],
  ])('with %s returns %i with the other CORS headers and closes the connection', async (_description, status, request) => {
    await using upstream = await startScriptedUpstream(jsonReply({}));
    await using gateway = await startGateway(upstream.url);
    const text = await sendRaw(gateway.url, request);
    expect(text).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    for (const line of corsLines) expect(text).toContain(line);
    expect(text).toMatch(/\{"type":"error","error":\{"type":"\w+","message":"[^"]+"\}\}$/);
    expect(upstream.requests).toEqual([]);
  });

  it('on a reused connection does not affect earlier responses', async () => {
    await using upstream = await startScriptedUpstream(jsonReply({ id: 'whole' }));
    await using gateway = await startGateway(upstream.url);
    const caller = new RawCaller(gateway.url);
    caller.send(`POST ${messagesPath} HTTP/1.1\r\nHost: g\r\nContent-Length: 2\r\n\r\n{}`);
    await caller.until(/whole[\s\S]*0\r\n\r\n$/);
    caller.send('nonsense\r\n\r\n');
    await caller.closed;
    expect(caller.text).toMatch(/whole[\s\S]*HTTP\/1.1 400 /);
  });
});

describe('an unusual request', () => {
  it('without Host is served, and the upstream receives its own Host', async () => {
    await using upstream = await startScriptedUpstream(jsonReply({}));
    await using gateway = await startGateway(upstream.url);
    expect(await sendRaw(gateway.url, `GET ${messagesPath} HTTP/1.0\r\n\r\n`)).toMatch(/^HTTP\/1.1 200 OK\r\n/);
    expect(await sendRaw(gateway.url, `GET ${messagesPath} HTTP/1.1\r\nConnection: close\r\n\r\n`)).toMatch(
      /^HTTP\/1.1 200 OK\r\n/,
    );
    for (const { headers } of upstream.requests) expect(headers.host).toBe(new URL(upstream.url).host);
  });

  it('with an unknown expectation is served with the CORS headers', async () => {
    await using upstream = await startScriptedUpstream(jsonReply({}));
    await using gateway = await startGateway(upstream.url);
    const text = await sendRaw(
      gateway.url,
      `GET ${messagesPath} HTTP/1.1\r\nHost: g\r\nExpect: miracles\r\nConnection: close\r\n\r\n`,
    );
    expect(text).toMatch(/^HTTP\/1.1 200 OK\r\n/);
    for (const line of corsLines) expect(text).toContain(line);
    expect(upstream.requests[0]?.headers.expect).toBeUndefined();
  });

  it('for an upgrade is served without one', async () => {
    await using upstream = await startScriptedUpstream(jsonReply({}));
    await using gateway = await startGateway(upstream.url);
    const fields =
      'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13';
    const caller = new RawCaller(gateway.url);
    caller.send(`GET ${messagesPath} HTTP/1.1\r\nHost: g\r\n${fields}\r\n\r\n`);
    expect(await caller.until(/\r\n0\r\n\r\n$/)).toMatch(/^HTTP\/1.1 200 OK\r\n/);
    expect(upstream.requests[0]?.headers).not.toHaveProperty('upgrade');
    caller.socket.destroy();
  });
});
