import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Secret } from '#base/secrets/secret.ts';
import { type SampleServer, startSampleServer } from './sample-server.ts';

let server: SampleServer;

beforeAll(async () => {
  server = await startSampleServer(new Secret('sample-secret'));
});

afterAll(() => server.close());

function sendRequest(path: string, init: RequestInit = {}, authorization = 'Bearer sample-secret'): Promise<Response> {
  return fetch(server.origin + path, { ...init, headers: { authorization } });
}

async function callMcp(message: unknown): Promise<unknown> {
  const body = typeof message === 'string' ? message : JSON.stringify(message);
  return (await sendRequest('/mcp', { method: 'POST', body })).json();
}

describe('sample server', () => {
  it.each(['', 'Bearer ', 'Bearer sample-secreT', 'Bearer sample-secret2', 'Basic sample-secret'])(
    'rejects the authorization %j',
    async (authorization) => {
      for (const path of ['/opening-hours?day=monday', '/mcp', '/'])
        expect((await sendRequest(path, {}, authorization)).status).toBe(401);
    },
  );

  it.each([
    ['/opening-hours?day=Saturday', 200],
    ['/opening-hours?day=', 400],
    ['/opening-hours?day=__proto__', 400],
    ['/opening-hours', 400],
    ['/mcp', 405],
    ['/other', 404],
    ['//', 404],
  ])('answers GET %s with %i', async (path, status) => {
    expect((await sendRequest(path)).status).toBe(status);
  });

  it('rejects a message that is too long', async () => {
    const response = sendRequest('/mcp', { method: 'POST', body: 'x'.repeat(1_000_000) });
    expect(await response.then(({ status }) => status)).toBe(413);
  });

  it('sends no response to a notification', async () => {
    const body = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' });
    const reply = await sendRequest('/mcp', { method: 'POST', body });
    expect([reply.status, await reply.text()]).toEqual([202, '']);
  });

  it.each([
    ['half {', -32_600],
    [[], -32_600],
    [{ id: 1 }, -32_600],
    [{ id: 1, method: 'resources/list' }, -32_601],
    [{ id: 1, method: 'tools/call' }, -32_602],
    [{ id: 1, method: 'tools/call', params: { name: 'constructor' } }, -32_602],
  ])('returns an error for the message %j', async (message, code) => {
    expect(await callMcp(message)).toMatchObject({ jsonrpc: '2.0', error: { code } });
  });

  it.each([
    ['2025-06-18', '2025-06-18'],
    ['1999-01-01', '2025-11-25'],
  ])('answers a client of revision %s with revision %s', async (requestedVersion, protocolVersion) => {
    const message = { id: 'a', method: 'initialize', params: { protocolVersion: requestedVersion } };
    expect(await callMcp(message)).toMatchObject({ id: 'a', result: { protocolVersion } });
    expect(await callMcp({ id: 0, method: 'ping' })).toEqual({ jsonrpc: '2.0', id: 0, result: {} });
  });

  it.each([
    [{ title: ' the HOBBIT ' }, /2 of 3 copies/],
    [{ title: '__proto__' }, /no book of this title/],
    [undefined, /no book of this title/],
  ])('calls its tool with %j', async (args, expected) => {
    const params = { name: 'book_status', arguments: args };
    const { result } = (await callMcp({ id: 1, method: 'tools/call', params })) as { result: { content: { text: string }[] } };
    expect(result.content[0]?.text).toMatch(expected);
  });
});
