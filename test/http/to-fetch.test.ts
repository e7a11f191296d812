import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HttpError, type HttpTimeouts } from '#base/http/client.ts';
import { LeanClient } from '#base/http/lean-client.ts';
import { toFetch } from '#base/http/to-fetch.ts';
import { jsonReply, piecesReply, type ScriptedUpstream, silence, startScriptedUpstream } from '#test/scripted-upstream.ts';

const http = new LeanClient();
const timeouts = { connectMs: 20_000, firstByteMs: 20_000, idleMs: 20_000 };
const fetch = toFetch(http, { timeouts, maxBytes: 64 });
const fetchWithin = (limits: Partial<HttpTimeouts>) => toFetch(http, { timeouts: { ...timeouts, ...limits }, maxBytes: 64 });
let server: ScriptedUpstream;

beforeAll(async () => {
  server = await startScriptedUpstream();
});

afterAll(async () => {
  http.close();
  await server.close();
});

const matchError = (kind: HttpError['kind']) => expect.objectContaining({ name: 'HttpError', kind });

describe('fetch over HttpClient', () => {
  it('sends the method, headers, and body, but not headers that the client sets', async () => {
    server.script(jsonReply({}));
    const index = server.requests.length;
    const headers = { 'X-One': '1', host: 'elsewhere', 'content-length': '999', connection: 'close' };
    await fetch(`${server.url}/a?b=c`, { method: 'post', headers, body: '{"ä":"😀"}' });
    const { method, path, headers: received, text } = await server.request(index);
    expect([method, path, text]).toEqual(['POST', '/a?b=c', '{"ä":"😀"}']);
    expect(received).toMatchObject({ 'x-one': '1', host: new URL(server.url).host, 'content-length': '13' });
  });

  it.each([
    ['bytes', new Uint8Array([123, 125]), '{}'],
    ['a form', new URLSearchParams({ a: 'b c' }), 'a=b+c'],
    ['a long string', 'ä'.repeat(20_000), 'ä'.repeat(20_000)],
    ['no body', undefined, ''],
  ])('sends %s', async (_kind, body, text) => {
    server.script(jsonReply({}));
    const index = server.requests.length;
    await fetch(server.url, { method: 'POST', ...(body !== undefined && { body }) });
    expect((await server.request(index)).text).toBe(text);
  });

  it('returns the status, headers, and body', async () => {
    server.script(jsonReply({ a: 'ä' }, 418, { 'x-two': '2' }));
    const reply = await fetch(new URL(server.url));
    expect([reply.ok, reply.status, reply.headers.get('x-two'), await reply.json()]).toEqual([false, 418, '2', { a: 'ä' }]);
    server.script(({ response }) => void response.writeHead(204).end());
    expect((await fetch(server.url)).body).toBeNull();
  });

  it('returns the body as it arrives', async () => {
    server.script(async (exchange) => {
      exchange.head();
      await exchange.bytes('one');
    });
    const reader = (await fetchWithin({ idleMs: 60 })(server.url)).body?.getReader();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('one');
    await expect(reader?.read()).rejects.toEqual(matchError('idle_timeout'));
  });

  it('times out without a reply and fails without a server', async () => {
    server.script(silence);
    await expect(fetchWithin({ firstByteMs: 60 })(server.url)).rejects.toEqual(matchError('first_byte_timeout'));
    await expect(fetch('http://127.0.0.1:1/')).rejects.toEqual(matchError('connect'));
  });

  it('limits the size of a reply, and of each event in a stream', async () => {
    server.script(({ response }) => void response.end('x'.repeat(65)));
    await expect((await fetch(server.url)).text()).rejects.toEqual(matchError('too_large'));
    const event = `data: ${'x'.repeat(40)}\n\n`;
    server.script(piecesReply(event, event, event));
    expect(await (await fetch(server.url)).text()).toBe(event.repeat(3));
    server.script(piecesReply('x'.repeat(65)));
    await expect((await fetch(server.url)).text()).rejects.toEqual(matchError('too_large'));
  });

  it('is aborted before and after the headers, and closes the connection', async () => {
    const abortReason = new Error('client disconnected');
    const early = new AbortController();
    server.script(silence);
    const waiting = fetch(server.url, { signal: early.signal });
    early.abort(abortReason);
    await expect(waiting).rejects.toBe(abortReason);

    const late = new AbortController();
    server.script((exchange) => exchange.head());
    const index = server.requests.length;
    const reply = await fetch(server.url, { signal: late.signal });
    const reading = reply.text();
    late.abort(abortReason);
    await expect(reading).rejects.toBe(abortReason);
    expect(await (await server.request(index)).closed).toMatchObject({ early: true });
  });

  it('closes the connection if the body is not read completely', async () => {
    server.script(async (exchange) => {
      exchange.head();
      await exchange.bytes('one');
    });
    const index = server.requests.length;
    await (await fetch(server.url)).body?.cancel();
    expect(await (await server.request(index)).closed).toMatchObject({ early: true });
  });

  it('rejects a method that the client does not support', async () => {
    await expect(fetch(server.url, { method: 'OPTIONS' })).rejects.toBeInstanceOf(HttpError);
  });
});
