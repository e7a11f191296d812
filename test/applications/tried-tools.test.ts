import { describe, expect, it } from 'vitest';
import { describeApi } from '#test/api-description.ts';
import type { Documented } from '#test/documented.ts';
import { freePort } from '#test/listening.ts';
import type { TestResponse } from '#test/send-request.ts';
import { callerKey, startService, type TestService, withKey } from '#test/start-service.ts';
import { Validators } from '#test/validators.ts';
import { echo, startSessions, startStateless } from '../mcp/servers.ts';
import { startEverything, startWebServer } from '../mcp/support.ts';
import { TestShelves } from '../retrieval/rig.ts';
import { ownBucket, pathOf, quickApp, save } from './support.ts';

const models = { demo: { upstreams: [{ protocol: 'demo' }] } };
const open = { models, security: { allowPrivateNetworks: ['127.0.0.1'] } };

const properties = { id: { type: 'integer' }, mode: { type: 'string', const: 'brief', parameter_info: { type: 'query' } } };

function webApi(url: string, more: object = {}, parameters: object = { properties, required: ['id'] }): object {
  const find = { name: 'find', description: 'Finds an item.', parameters: { type: 'object', ...parameters } };
  const rest_api_method_info = { method_url: `${url}/items/`, method_type: 'get' };
  return {
    type: 'rest-api',
    name: 'Items',
    tools: [{ rest_api_method_info, open_ai_tool: { type: 'function', function: find } }],
    ...more,
  };
}

function server(url: string, more: object = {}): object {
  return { type: 'mcp', name: 'Files', mcp_server_info: { url, protocol: 'streamable_http', ...more } };
}

function run(service: Pick<TestService, 'sendRequest'>, body: object, headers = withKey()): Promise<TestResponse> {
  return service.sendRequest({ path: '/v1/tools/run', headers, body });
}

describe('a toolset of a trial', () => {
  it.each([
    ['/v1/tools/list', [server('http://127.0.0.1:9/mcp')], {}],
    ['/v1/tools/run', [server('http://127.0.0.1:9/mcp'), webApi('http://127.0.0.1:9')], { tool: 'find' }],
  ])('is documented as strictly as it is validated, for %s', async (path, toolsets, more) => {
    await using service = await startService(open);
    const check = new Validators(describeApi()).request({ path, method: 'post' } as Documented, 'application/json');
    for (const toolset of toolsets) {
      expect(check({ toolset, ...more })).toEqual([]);
      const body = { toolset: { ...toolset, odd: 1 }, ...more };
      expect(check(body)).not.toEqual([]);
      const { status, error } = await service.sendRequest({ path, headers: withKey(), body });
      expect([status, error.param]).toEqual([400, 'toolset.odd']);
    }
  });
});

describe('a tool of a web API', () => {
  it('is run once with the arguments that are given, and those that are fixed', async () => {
    const asked: string[] = [];
    const { url } = await startWebServer((request) => {
      asked.push(`${request.method} ${request.url.replace(/^.*\/items/, '/items')}`);
      return Response.json({ name: 'Lamp', price: 12 });
    });
    await using service = await startService(open);
    const { status, json } = await run(service, { toolset: webApi(url), tool: 'find', arguments: { id: 3 } });
    expect(status).toBe(200);
    expect(json).toMatchObject({ outcome: 'answered', attachments: [], failure: null, durationMs: expect.any(Number) });
    expect((json as { text: string }).text).toContain('"Lamp"');
    expect(asked).toEqual(['GET /items/?mode=brief&id=3']);
  });

  it('fails with the text for a model, without its credentials', async () => {
    const secret = 'canary-token';
    const { url, seen } = await startWebServer(() => new Response(`no entry for ${secret}`, { status: 500 }));
    await using service = await startService(open);
    const authorization = { type: 'bearer', token: secret };
    const { text, json } = await run(service, { toolset: webApi(url, { authorization }), tool: 'find', arguments: { id: 1 } });
    expect(json).toMatchObject({ outcome: 'failed', failure: null });
    expect(text).toContain('500');
    expect(text).not.toContain(secret);
    expect(seen.at(-1)?.headers.authorization).toBe(`Bearer ${secret}`);
  });

  it('is not run with arguments that it does not take', async () => {
    const { url, seen } = await startWebServer(() => Response.json({}));
    await using service = await startService(open);
    const { json } = await run(service, { toolset: webApi(url), tool: 'find', arguments: { id: 'three' } });
    expect(json).toMatchObject({
      outcome: 'not_run',
      text: expect.stringContaining('arguments/id must be integer'),
      durationMs: 0,
    });
    expect(seen).toEqual([]);
  });

  it('has the time and the length that it has in an answer', async () => {
    const long = await startWebServer(() => new Response('word '.repeat(10_000), { headers: { 'content-type': 'text/plain' } }));
    const slow = await startWebServer(() => new Promise<Response>(() => undefined));
    await using service = await startService({ ...open, tools: { maxResultBytes: 1_000 } });
    const cut = (await run(service, { toolset: webApi(long.url), tool: 'find', arguments: { id: 1 } })).json as { text: string };
    expect(Buffer.byteLength(cut.text)).toBeLessThan(1_500);
    expect(cut.text).toContain('50000 bytes');
    service.reload({ ...open, tools: { timeoutMs: 300 } });
    const stopped = await run(service, { toolset: webApi(slow.url), tool: 'find', arguments: { id: 1 } });
    expect(stopped.json).toMatchObject({ outcome: 'failed', text: expect.stringContaining('0.3 s') });
  });

  it('does not reach private addresses', async () => {
    const { url, seen } = await startWebServer(() => Response.json({}));
    await using service = await startService({ models });
    const { json } = await run(service, { toolset: webApi(url), tool: 'find', arguments: { id: 1 } });
    expect(json).toMatchObject({ outcome: 'failed' });
    expect(seen).toEqual([]);
  });

  it('receives stored secrets only for their owner', async () => {
    const { url, seen } = await startWebServer(() => Response.json({}));
    const keys = { [callerKey]: { project: 'test' }, 'other-key': { project: 'other' } };
    await using service = await startService({ ...open, keys });
    const stored = webApi(url, { authorization: { type: 'bearer', token: 'canary-token' } });
    await save(service, pathOf('kept'), quickApp({ web_api_toolset: [stored] }));
    const application = `applications/${ownBucket}/kept`;
    const toolset = webApi(url, { authorization: { type: 'bearer', token: '***' } });
    const body = { toolset, tool: 'find', arguments: { id: 1 }, application };
    expect((await run(service, body)).json).toMatchObject({ outcome: 'answered' });
    expect(seen.at(-1)?.headers.authorization).toBe('Bearer canary-token');
    const others = await run(service, body, { ...withKey(), 'api-key': 'other-key' });
    expect([others.status, others.error.code]).toEqual([403, 'access_denied']);
    expect(seen).toHaveLength(1);
  });
});

describe.each([
  ['with sessions', startSessions],
  ['without sessions', startStateless],
] as const)('a tool of a server %s', (_which, start) => {
  it('answers, or fails with the message of the server', async () => {
    const tools = [
      {
        ...echo,
        name: 'greet',
        run: ({ name }: { name?: unknown }) => ({ content: [{ type: 'text' as const, text: `Hello ${name}` }] }),
      },
      { ...echo, name: 'fail', run: () => ({ isError: true, content: [{ type: 'text' as const, text: 'No such file' }] }) },
    ];
    const { url } = await start(tools);
    await using service = await startService(open);
    const greeted = await run(service, { toolset: server(url), tool: 'greet', arguments: { name: 'Ada' } });
    expect(greeted.json).toMatchObject({ outcome: 'answered', text: 'Hello Ada', failure: null });
    const failed = await run(service, { toolset: server(url), tool: 'fail' });
    expect(failed.json).toMatchObject({ outcome: 'failed', text: expect.stringContaining('No such file') });
  });
});

it('a tool that asks the user has the outcome asks', async () => {
  const { url } = await startEverything('streamableHttp');
  await using service = await startService(open);
  const { json } = await run(service, { toolset: server(url), tool: 'trigger-elicitation-request' });
  expect(json).toMatchObject({ outcome: 'asks', question: { message: expect.any(String), schema: { type: 'object' } } });
});

it('A server that cannot be used says why, as in a list of its tools', async () => {
  await using service = await startService(open);
  const { json } = await run(service, { toolset: server(`http://127.0.0.1:${await freePort()}/mcp`), tool: 'x' });
  expect(json).toMatchObject({ outcome: 'failed', failure: { reason: 'unreachable' } });
});

describe('a run is rejected', () => {
  const toolset = webApi('https://items.example');
  it.each<[string, object, string]>([
    ['of no tool', { toolset }, 'tool'],
    ['of a tool that is not there', { toolset, tool: 'lose' }, 'tool'],
    ['with invalid arguments', { toolset, tool: 'find', arguments: [1] }, 'arguments'],
    ['of a toolset that could not be saved', { toolset: { type: 'rest-api', name: 'x' }, tool: 'find' }, 'toolset.tools'],
    ['with an unknown field', { toolset, tool: 'find', args: {} }, 'args'],
  ])('%s', async (_what, body, param) => {
    await using service = await startService({});
    const { status, error } = await run(service, body);
    expect([status, error.code, error.param]).toEqual([400, 'invalid_request', param]);
  });
});

describe('documents', () => {
  it('are searched like by an application of the caller, without those of other users', async () => {
    await using shelves = await TestShelves.open();
    await using service = await startService({ models }, shelves.options);
    const own = await shelves.put('rules.md', 'The library opens at nine.', ownBucket);
    const foreign = await shelves.put('rules.md', 'The vault opens at ten.', 'another');
    const ask = (references: readonly string[], more: object = {}) => {
      const toolset = { type: 'documents', document_relative_url: references, ...more };
      return run(service, { toolset, tool: 'query_document', arguments: { query: 'When does it open?' } });
    };
    expect((await ask([own])).json).toMatchObject({ outcome: 'answered', text: expect.stringContaining('opens at nine') });
    const refused = await ask([foreign]);
    expect(refused.json).toMatchObject({ outcome: 'failed', failure: { reason: 'failed' } });
    expect(refused.text).not.toContain('vault');
    expect((await ask([])).json).toMatchObject({ error: { param: 'toolset.document_relative_url' } });
    expect((await ask([own], { retrieval: { maxPassages: 'x' } })).status).toBe(400);
    expect((await ask([own], { retrievl: {} })).json).toMatchObject({ error: { param: 'toolset.retrievl' } });
  });
});
