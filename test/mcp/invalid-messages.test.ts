import { describe, expect, it } from 'vitest';
import { RecordedTelemetry } from '#test/recorded-telemetry.ts';
import type { TestResponse } from '#test/send-request.ts';
import { startService, withKey } from '#test/start-service.ts';
import { mirrored, post, rpc, startServed, stateless, toolCall } from './served-support.ts';
import { textReply } from './support.ts';

const answer = textReply('An answer.');

/** Formats the HTTP status and the JSON-RPC error code. */
function formatStatus({ status, json }: TestResponse): string {
  const { error } = json as { error?: { code: number | string } };
  return `${status} ${error?.code ?? 'ok'}`;
}

describe('an invalid JSON-RPC message', () => {
  it.each([
    ['invalid JSON', '{"jsonrpc":', '400 -32700'],
    ['invalid UTF-8', Buffer.from([0x22, 0xff, 0x22]), '400 -32700'],
    ['an empty body', '', '400 -32700'],
    ['a batch', [rpc('ping')], '400 -32600'],
    ['another version of JSON-RPC', { ...rpc('ping'), jsonrpc: '1.0' }, '400 -32600'],
    ['no method', { jsonrpc: '2.0', id: 1 }, '400 -32600'],
    ['a result', { jsonrpc: '2.0', id: 1, result: {} }, '400 -32600'],
    ['an id of null', { ...rpc('ping'), id: null }, '400 -32600'],
    ['parameters in a list', { ...rpc('ping'), params: [] }, '400 -32600'],
    ['an unknown method', rpc('prompts/list'), '200 -32601'],
    ['a method named after an object property', rpc('__proto__'), '200 -32601'],
    ['a method of the stateless revision', rpc('server/discover'), '200 -32601'],
    ['a notification with an id', rpc('notifications/initialized'), '200 -32601'],
    ['no tool name', rpc('tools/call'), '200 -32602'],
    ['a tool name that is not a string', rpc('tools/call', { name: 1 }), '200 -32602'],
    ['an unknown tool', rpc('tools/call', { name: 'other' }), '200 -32602'],
  ])('is answered with an error: %s', async (_what, body, expected) => {
    const { service } = await startServed();
    expect(formatStatus(await post(service, body))).toBe(expected);
  });

  it('is answered with the ID of the request if it can be read, and with null otherwise', async () => {
    const { service } = await startServed();
    expect((await post(service, rpc('none'))).json).toMatchObject({ jsonrpc: '2.0', id: 7 });
    expect((await post(service, '{')).json).toMatchObject({ id: null });
  });
});

describe('header fields of the stateless revision', () => {
  const call = stateless('tools/call', toolCall);
  const good = mirrored('tools/call', 'model');
  it.each([
    ['no version', call, { ...good, 'mcp-protocol-version': '' }, '400 -32020'],
    ['a version of the session revisions', call, { ...good, 'mcp-protocol-version': '2025-11-25' }, '400 -32020'],
    ['another method', call, { ...good, 'mcp-method': 'tools/list' }, '400 -32020'],
    ['another name', call, { ...good, 'mcp-name': 'other' }, '400 -32020'],
    ['no name', call, mirrored('tools/call'), '400 -32020'],
    ['no metadata in the body', rpc('tools/list'), mirrored('tools/list'), '400 -32602'],
    [
      'no client capabilities',
      rpc('tools/list', { _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } }),
      good,
      '400 -32602',
    ],
    ['initialize', stateless('initialize'), mirrored('initialize'), '404 -32601'],
    ['a Base64-encoded name', call, { ...good, 'mcp-name': '=?base64?bW9kZWw=?=' }, '200 ok'],
  ])('must match the body: %s', async (_what, body, headers, expected) => {
    const { service } = await startServed({}, answer);
    expect(formatStatus(await post(service, body, headers))).toBe(expected);
  });
});

describe('version negotiation', () => {
  it.each([
    ['2025-03-26', '2025-03-26'],
    ['2025-06-18', '2025-06-18'],
    ['2025-11-25', '2025-11-25'],
    ['2024-11-05', '2025-11-25'],
    [undefined, '2025-11-25'],
  ])('answers a session that requests %s with %s', async (protocolVersion, negotiated) => {
    const { service } = await startServed();
    const { json, headers } = await post(service, rpc('initialize', { protocolVersion, capabilities: {} }));
    expect(json).toMatchObject({ result: { protocolVersion: negotiated, capabilities: { tools: {} } } });
    expect(headers['mcp-session-id']).toMatch(/^[\w.:-]+$/);
  });

  it('rejects an unknown version and lists the supported versions', async () => {
    const { service } = await startServed();
    const version = '2030-01-01';
    const expected = { error: { code: -32022, data: { requested: version, supported: expect.arrayContaining(['2026-07-28']) } } };
    const sent = { 'mcp-protocol-version': version };
    const inSession = await post(service, rpc('tools/list'), sent);
    const meta = { 'io.modelcontextprotocol/protocolVersion': version };
    const alone = await post(service, stateless('tools/list', {}, meta), { ...sent, 'mcp-method': 'tools/list' });
    for (const { status, json } of [inSession, alone]) expect([status, json]).toMatchObject([400, expected]);
  });
});

describe('the MCP endpoint of a deployment', () => {
  it('accepts notifications with 202 and an empty body', async () => {
    const { service } = await startServed();
    for (const method of ['notifications/initialized', 'notifications/cancelled', 'notifications/none']) {
      const { status, text } = await post(service, { jsonrpc: '2.0', method });
      expect([status, text]).toEqual([202, '']);
    }
  });

  it('answers pings', async () => {
    const { service } = await startServed();
    expect((await post(service, rpc('ping'))).json).toEqual({ jsonrpc: '2.0', id: 7, result: {} });
  });

  it.each([
    ['application/json, text/event-stream', 'application/json'],
    ['*/*', 'application/json'],
    ['text/event-stream', 'text/event-stream'],
    ['application/json;q=0, text/event-stream', 'text/event-stream'],
  ])('answers a client that accepts %s with %s', async (accept, type) => {
    const { service } = await startServed();
    const { status, headers, text } = await post(service, rpc('ping'), { accept });
    expect([status, headers['content-type']]).toEqual([200, `${type}; charset=utf-8`]);
    expect(text).toContain('"result":{}');
    const unknown = await post(service, rpc('none'), { accept });
    expect([unknown.status, unknown.headers['content-type']]).toEqual([200, `${type}; charset=utf-8`]);
  });

  it('answers 406 if the client does not accept JSON or events', async () => {
    const { service } = await startServed();
    expect((await post(service, rpc('ping'), { accept: 'text/html' })).status).toBe(406);
  });

  it('does not stream to a client that does not accept events', async () => {
    const { service } = await startServed({}, answer);
    const body = rpc('tools/call', { ...toolCall, _meta: { progressToken: 1 } });
    const { headers } = await post(service, body, { accept: 'application/json' });
    expect(headers['content-type']).toMatch(/json/);
  });

  it.each([
    ['https://evil.test', 403],
    ['null', 403],
    ['file://127.0.0.1', 403],
    ['own', 200],
  ])('accepts requests only from the same origin: %s gives %d', async (origin, status) => {
    const { service } = await startServed();
    const response = await post(service, rpc('ping'), { origin: origin === 'own' ? service.url : origin });
    expect(response.status).toBe(status);
    expect(Object.keys(response.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  it('answers GET, HEAD, and DELETE with 405', async () => {
    const { service } = await startServed();
    for (const method of ['GET', 'HEAD', 'DELETE']) {
      const { status, headers } = await service.sendRequest({ method, path: '/v1/deployments/model/mcp', headers: withKey() });
      expect([status, headers.allow]).toEqual([405, expect.stringContaining('POST')]);
    }
  });

  it('does not change the neighboring paths', async () => {
    const { service } = await startServed();
    for (const [name, status] of [
      ['limits', 405],
      ['configuration', 405],
      ['nothing', 404],
      ['', 404],
    ] as const) {
      const response = await service.sendRequest({
        path: `/v1/deployments/model/${name}`,
        headers: withKey(),
        body: rpc('ping'),
      });
      expect([name, response.status]).toEqual([name, status]);
    }
  });

  it('reports errors in the same order as other endpoints', async () => {
    const { service } = await startServed({ security: { maxBodyBytes: 10_000 } });
    const path = '/v1/deployments/none/mcp';
    const type = { 'content-type': 'application/json' };
    const large = await service.sendRequest({ path, headers: type, body: 'x'.repeat(20_000) });
    expect([large.status, large.error.code]).toEqual([413, 'payload_too_large']);
    expect((await service.sendRequest({ path, headers: type, body: {} })).error.code).toBe('missing_credentials');
    const html = await service.sendRequest({ path, headers: { ...withKey(), 'content-type': 'text/html' }, body: 'x' });
    expect(html.error.code).toBe('unsupported_media_type');
    expect((await service.sendRequest({ path, headers: withKey(), body: '{' })).error.code).toBe('deployment_not_found');
  });

  it('cancels a call only if the notification comes from its session and key', async () => {
    const { service, model } = await startServed({}, () => undefined);
    const session = { 'mcp-session-id': 'one' };
    const called = post(service, rpc('tools/call', toolCall), session);
    const received = await model.request(0);
    const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } };
    await post(service, cancelled);
    await post(service, cancelled, { 'mcp-session-id': 'two' });
    await post(service, cancelled, { ...session, 'api-key': 'limited-key' });
    expect(received.isOpen).toBe(true);
    await post(service, cancelled, session);
    const { status, text } = await called;
    expect([status, text]).toEqual([202, '']);
    expect((await received.closed).early).toBe(true);
  });

  it('ends a stream without a message if the call is canceled', async () => {
    const { service, model } = await startServed({}, () => undefined);
    const session = { 'mcp-session-id': 'one', accept: 'application/json, text/event-stream' };
    for (const meta of [{}, { _meta: { progressToken: 'p' } }]) {
      const before = model.requests.length;
      const called = post(service, rpc('tools/call', { ...toolCall, ...meta }), session);
      await model.request(before);
      await post(service, { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } }, session);
      const { status, headers, text } = await called;
      expect([status, headers['content-type'], text]).toEqual([200, 'text/event-stream; charset=utf-8', '']);
    }
  });

  it('treats null as absent', async () => {
    const { service } = await startServed({}, answer);
    expect(formatStatus(await post(service, { ...rpc('ping'), params: null }))).toBe('200 ok');
    expect(formatStatus(await post(service, rpc('tools/list', { _meta: null })))).toBe('200 ok');
    expect(formatStatus(await post(service, rpc('tools/call', { ...toolCall, _meta: { progressToken: null } })))).toBe('200 ok');
    expect((await post(service, rpc('tools/call', { name: 'model', arguments: null }))).text).toContain(
      'arguments.query is required',
    );
  });

  it('counts only tool calls as usage of the deployment', async () => {
    const telemetry = new RecordedTelemetry();
    await using service = await startService({ models: { model: { upstreams: [{ protocol: 'demo' }] } } }, { telemetry });
    for (const method of ['initialize', 'tools/list', 'ping', 'none']) await post(service, rpc(method));
    await post(service, rpc('tools/call', toolCall));
    expect(telemetry.deployments).toEqual(['model']);
    expect(telemetry.ends.map(({ outcome }) => outcome)).toEqual(['ok', 'ok', 'ok', 'refused', 'ok']);
    expect(telemetry.ends.map(({ promptTokens }) => promptTokens > 0)).toEqual([false, false, false, false, true]);
  });
});
