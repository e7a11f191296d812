import { describe, expect, it } from 'vitest';
import { describeApi } from '#test/api-description.ts';
import type { DocumentedOperation } from '#test/documented.ts';
import { findFreePort } from '#test/listening.ts';
import type { TestResponse } from '#test/send-request.ts';
import { callerKey, startService, type TestService, withKey } from '#test/start-service.ts';
import { Validators } from '#test/validators.ts';
import { echo, startSessions, startStateless } from '../mcp/servers.ts';
import { startEverything, startWebServer } from '../mcp/support.ts';
import { TestFiles } from '../retrieval/rig.ts';
import { getApplicationPath, ownBucket, quickApp, save } from './support.ts';

const models = { demo: { upstreams: [{ protocol: 'demo' }] } };
const configuration = { models, security: { allowPrivateNetworks: ['127.0.0.1'] } };

const properties = { id: { type: 'integer' }, mode: { type: 'string', const: 'brief', parameter_info: { type: 'query' } } };

function webApi(url: string, fields: object = {}, parameters: object = { properties, required: ['id'] }): object {
  const find = { name: 'find', description: 'Finds an item.', parameters: { type: 'object', ...parameters } };
  const rest_api_method_info = { method_url: `${url}/items/`, method_type: 'get' };
  return {
    type: 'rest-api',
    name: 'Items',
    tools: [{ rest_api_method_info, open_ai_tool: { type: 'function', function: find } }],
    ...fields,
  };
}

function mcpServer(url: string, fields: object = {}): object {
  return { type: 'mcp', name: 'Files', mcp_server_info: { url, protocol: 'streamable_http', ...fields } };
}

function run(service: Pick<TestService, 'sendRequest'>, body: object, headers = withKey()): Promise<TestResponse> {
  return service.sendRequest({ path: '/v1/tools/run', headers, body });
}

describe('the toolset in a trial run', () => {
  it.each([
    ['/v1/tools/list', [mcpServer('http://127.0.0.1:9/mcp')], {}],
    ['/v1/tools/run', [mcpServer('http://127.0.0.1:9/mcp'), webApi('http://127.0.0.1:9')], { tool: 'find' }],
  ])('has the same fields in the documentation as in the validation for %s', async (path, toolsets, fields) => {
    await using service = await startService(configuration);
    const check = new Validators(describeApi()).request({ path, method: 'post' } as DocumentedOperation, 'application/json');
    for (const toolset of toolsets) {
      expect(check({ toolset, ...fields })).toEqual([]);
      const body = { toolset: { ...toolset, odd: 1 }, ...fields };
      expect(check(body)).not.toEqual([]);
      const { status, error } = await service.sendRequest({ path, headers: withKey(), body });
      expect([status, error.param]).toEqual([400, 'toolset.odd']);
    }
  });
});

describe('the trial run of a web API tool', () => {
  it('sends one request with its arguments and its constants', async () => {
    const requestLines: string[] = [];
    const { url } = await startWebServer((request) => {
      requestLines.push(`${request.method} ${request.url.replace(/^.*\/items/, '/items')}`);
      return Response.json({ name: 'Lamp', price: 12 });
    });
    await using service = await startService(configuration);
    const { status, json } = await run(service, { toolset: webApi(url), tool: 'find', arguments: { id: 3 } });
    expect(status).toBe(200);
    expect(json).toMatchObject({ outcome: 'answered', attachments: [], failure: null, durationMs: expect.any(Number) });
    expect((json as { text: string }).text).toContain('"Lamp"');
    expect(requestLines).toEqual(['GET /items/?mode=brief&id=3']);
  });

  it('returns an error as the model receives it, without credentials', async () => {
    const secret = 'canary-token';
    const { url, seen } = await startWebServer(() => new Response(`no entry for ${secret}`, { status: 500 }));
    await using service = await startService(configuration);
    const authorization = { type: 'bearer', token: secret };
    const { text, json } = await run(service, { toolset: webApi(url, { authorization }), tool: 'find', arguments: { id: 1 } });
    expect(json).toMatchObject({ outcome: 'failed', failure: null });
    expect(text).toContain('500');
    expect(text).not.toContain(secret);
    expect(seen.at(-1)?.headers.authorization).toBe(`Bearer ${secret}`);
  });

  it('sends no request if an argument is invalid', async () => {
    const { url, seen } = await startWebServer(() => Response.json({}));
    await using service = await startService(configuration);
    const { json } = await run(service, { toolset: webApi(url), tool: 'find', arguments: { id: 'three' } });
    expect(json).toMatchObject({
      outcome: 'not_run',
      text: expect.stringContaining('arguments/id must be integer'),
      durationMs: 0,
    });
    expect(seen).toEqual([]);
  });

  it('has the same timeout and the same maximum length as a run in a chat', async () => {
    const longServer = await startWebServer(
      () => new Response('word '.repeat(10_000), { headers: { 'content-type': 'text/plain' } }),
    );
    const slowServer = await startWebServer(() => new Promise<Response>(() => undefined));
    await using service = await startService({ ...configuration, tools: { maxResultBytes: 1_000 } });
    const truncated = (await run(service, { toolset: webApi(longServer.url), tool: 'find', arguments: { id: 1 } })).json as {
      text: string;
    };
    expect(Buffer.byteLength(truncated.text)).toBeLessThan(1_500);
    expect(truncated.text).toContain('50000 bytes');
    service.reload({ ...configuration, tools: { timeoutMs: 300 } });
    const stopped = await run(service, { toolset: webApi(slowServer.url), tool: 'find', arguments: { id: 1 } });
    expect(stopped.json).toMatchObject({ outcome: 'failed', text: expect.stringContaining('0.3 s') });
  });

  it('cannot reach private addresses', async () => {
    const { url, seen } = await startWebServer(() => Response.json({}));
    await using service = await startService({ models });
    const { json } = await run(service, { toolset: webApi(url), tool: 'find', arguments: { id: 1 } });
    expect(json).toMatchObject({ outcome: 'failed' });
    expect(seen).toEqual([]);
  });

  it('uses stored secrets only for their owner', async () => {
    const { url, seen } = await startWebServer(() => Response.json({}));
    const keys = { [callerKey]: { project: 'test' }, 'other-key': { project: 'other' } };
    await using service = await startService({ ...configuration, keys });
    const storedToolset = webApi(url, { authorization: { type: 'bearer', token: 'canary-token' } });
    await save(service, getApplicationPath('kept'), quickApp({ web_api_toolset: [storedToolset] }));
    const application = `applications/${ownBucket}/kept`;
    const toolset = webApi(url, { authorization: { type: 'bearer', token: '***' } });
    const body = { toolset, tool: 'find', arguments: { id: 1 }, application };
    expect((await run(service, body)).json).toMatchObject({ outcome: 'answered' });
    expect(seen.at(-1)?.headers.authorization).toBe('Bearer canary-token');
    const otherUserResponse = await run(service, body, { ...withKey(), 'api-key': 'other-key' });
    expect([otherUserResponse.status, otherUserResponse.error.code]).toEqual([403, 'access_denied']);
    expect(seen).toHaveLength(1);
  });
});

describe.each([
  ['with sessions', startSessions],
  ['without sessions', startStateless],
] as const)('the trial run of a tool of a server %s', (_description, start) => {
  it('returns the result or the error of the server', async () => {
    const tools = [
      {
        ...echo,
        name: 'greet',
        run: ({ name }: { name?: unknown }) => ({ content: [{ type: 'text' as const, text: `Hello ${name}` }] }),
      },
      { ...echo, name: 'fail', run: () => ({ isError: true, content: [{ type: 'text' as const, text: 'No such file' }] }) },
    ];
    const { url } = await start(tools);
    await using service = await startService(configuration);
    const response = await run(service, { toolset: mcpServer(url), tool: 'greet', arguments: { name: 'Ada' } });
    expect(response.json).toMatchObject({ outcome: 'answered', text: 'Hello Ada', failure: null });
    const failed = await run(service, { toolset: mcpServer(url), tool: 'fail' });
    expect(failed.json).toMatchObject({ outcome: 'failed', text: expect.stringContaining('No such file') });
  });
});

it('a trial run of a tool that asks the user a question has the outcome asks', async () => {
  const { url } = await startEverything('streamableHttp');
  await using service = await startService(configuration);
  const { json } = await run(service, { toolset: mcpServer(url), tool: 'trigger-elicitation-request' });
  expect(json).toMatchObject({ outcome: 'asks', question: { message: expect.any(String), schema: { type: 'object' } } });
});

it('a trial run on an unavailable server returns the same reason as a tool list', async () => {
  await using service = await startService(configuration);
  const { json } = await run(service, { toolset: mcpServer(`http://127.0.0.1:${await findFreePort()}/mcp`), tool: 'x' });
  expect(json).toMatchObject({ outcome: 'failed', failure: { reason: 'unreachable' } });
});

describe('a trial run is rejected', () => {
  const toolset = webApi('https://items.example');
  it.each<[string, object, string]>([
    ['without a tool', { toolset }, 'tool'],
    ['with an unknown tool', { toolset, tool: 'lose' }, 'tool'],
    ['with invalid arguments', { toolset, tool: 'find', arguments: [1] }, 'arguments'],
    ['with an invalid toolset', { toolset: { type: 'rest-api', name: 'x' }, tool: 'find' }, 'toolset.tools'],
    ['with an unknown field', { toolset, tool: 'find', args: {} }, 'args'],
  ])('%s', async (_description, body, param) => {
    await using service = await startService({});
    const { status, error } = await run(service, body);
    expect([status, error.code, error.param]).toEqual([400, 'invalid_request', param]);
  });
});

describe('a trial run with documents', () => {
  it('searches them as an application of the caller does, without documents of other users', async () => {
    await using documentStores = await TestFiles.open();
    await using service = await startService({ models }, documentStores.options);
    const ownReference = await documentStores.put('rules.md', 'The library opens at nine.', ownBucket);
    const foreign = await documentStores.put('rules.md', 'The vault opens at ten.', 'another');
    const search = (references: readonly string[], settings: object = {}) => {
      const toolset = { type: 'documents', document_relative_url: references, ...settings };
      return run(service, { toolset, tool: 'query_document', arguments: { query: 'When does it open?' } });
    };
    expect((await search([ownReference])).json).toMatchObject({
      outcome: 'answered',
      text: expect.stringContaining('opens at nine'),
    });
    const rejected = await search([foreign]);
    expect(rejected.json).toMatchObject({ outcome: 'failed', failure: { reason: 'failed' } });
    expect(rejected.text).not.toContain('vault');
    expect((await search([])).json).toMatchObject({ error: { param: 'toolset.document_relative_url' } });
    expect((await search([ownReference], { retrieval: { maxPassages: 'x' } })).status).toBe(400);
    expect((await search([ownReference], { retrievl: {} })).json).toMatchObject({ error: { param: 'toolset.retrievl' } });
  });
});
