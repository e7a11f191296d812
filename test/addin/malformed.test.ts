import { describe, expect, it } from 'vitest';
import { jsonReply, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { askRaw, messagesPath, RawCaller, startGateway } from './support.ts';

const corsLines = [
  'Access-Control-Allow-Credentials: true',
  'Access-Control-Allow-Methods: GET, POST, OPTIONS',
  'Access-Control-Max-Age: 86400',
  'Vary: Origin',
];

describe('what is no request', () => {
  it.each([
    ['bytes of another protocol', 400, '\x16\x03\x01\x02\x00\r\n\r\n'],
    ['a request line that is none', 400, 'hello\r\n\r\n'],
    [
      'two framings',
      400,
      `POST ${messagesPath} HTTP/1.1\r\nHost: g\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    ['two lengths', 400, `POST ${messagesPath} HTTP/1.1\r\nHost: g\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab`],
    ['a field with a bare line feed', 400, `GET ${messagesPath} HTTP/1.1\r\nHost: g\r\nX: a\nApi-Key: b\r\n\r\n`],
    ['a folded field', 400, `GET ${messagesPath} HTTP/1.1\r\nHost: g\r\nX: a\r\n Api-Key: b\r\n\r\n`],
    ['a field with a NUL', 400, `GET ${messagesPath} HTTP/1.1\r\nHost: g\r\nX: a\x00b\r\n\r\n`],
    ['a field with a control character', 400, `GET ${messagesPath} HTTP/1.1\r\nHost: g\r\nX: a\x01b\r\n\r\n`],
    ['a head beyond all bounds', 431, `GET ${messagesPath} HTTP/1.1\r\nHost: g\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`],
    ['a proxy’s request', 404, 'CONNECT service.example:443 HTTP/1.1\r\nHost: service.example:443\r\n\r\n'],
  ])('such as %s is answered %i with the rest of the CORS set, and the connection closed', async (_name, status, request) => {
    await using upstream = await startScriptedUpstream(jsonReply({}));
    await using gateway = await startGateway(upstream.url);
    const text = await askRaw(gateway.url, request);
    expect(text).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    for (const line of corsLines) expect(text).toContain(line);
    expect(text).toMatch(/\{"type":"error","error":\{"type":"\w+","message":"[^"]+"\}\}$/);
    expect(upstream.requests).toEqual([]);
  });

  it('in the middle of a kept connection leaves earlier answers whole', async () => {
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

describe('an odd request', () => {
  it('without Host is served: the service gets its own', async () => {
    await using upstream = await startScriptedUpstream(jsonReply({}));
    await using gateway = await startGateway(upstream.url);
    expect(await askRaw(gateway.url, `GET ${messagesPath} HTTP/1.0\r\n\r\n`)).toMatch(/^HTTP\/1.1 200 OK\r\n/);
    expect(await askRaw(gateway.url, `GET ${messagesPath} HTTP/1.1\r\nConnection: close\r\n\r\n`)).toMatch(
      /^HTTP\/1.1 200 OK\r\n/,
    );
    for (const { headers } of upstream.requests) expect(headers.host).toBe(new URL(upstream.url).host);
  });

  it('that expects what nobody knows is served, with the CORS set', async () => {
    await using upstream = await startScriptedUpstream(jsonReply({}));
    await using gateway = await startGateway(upstream.url);
    const text = await askRaw(
      gateway.url,
      `GET ${messagesPath} HTTP/1.1\r\nHost: g\r\nExpect: miracles\r\nConnection: close\r\n\r\n`,
    );
    expect(text).toMatch(/^HTTP\/1.1 200 OK\r\n/);
    for (const line of corsLines) expect(text).toContain(line);
    expect(upstream.requests[0]?.headers.expect).toBeUndefined();
  });

  it('that asks for an upgrade is served without one', async () => {
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
