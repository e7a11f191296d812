import { describe, expect, it } from 'vitest';
import { findFreePort } from '#test/listening.ts';
import type { TestResponse } from '#test/send-request.ts';
import { callerKey, startService, type TestService, withKey } from '#test/start-service.ts';
import { echo, instead, type ServedTool, startSessions, startStateless } from '../mcp/servers.ts';
import { startWebServer } from '../mcp/support.ts';
import { getApplicationPath, getProjectBucket, ownBucket, quickApp, save } from './support.ts';

const models = { demo: { upstreams: [{ protocol: 'demo' }] } };
const configuration = { models, security: { allowPrivateNetworks: ['127.0.0.1'] } };

interface ToolList {
  readonly tools: readonly { readonly name: string; readonly parameters?: object }[];
  readonly failure: { readonly reason: string; readonly message: string } | null;
}

function toToolset(url: string, server: object = {}, fields: object = {}): object {
  return { type: 'mcp', name: 'Files', mcp_server_info: { url, protocol: 'streamable_http', ...server }, ...fields };
}

function list(service: Pick<TestService, 'sendRequest'>, body: object, headers = withKey()): Promise<TestResponse> {
  return service.sendRequest({ path: '/v1/tools/list', headers, body });
}

async function getFailure(url: string, server: object = {}, settings: object = configuration): Promise<ToolList['failure']> {
  await using service = await startService(settings);
  const { status, json } = await list(service, { toolset: toToolset(url, server) });
  const { tools, failure } = json as ToolList;
  expect([status, tools]).toEqual([200, []]);
  return failure;
}

const tools: ServedTool[] = [
  {
    ...echo,
    name: 'write',
    title: 'Write a file',
    description: 'Writes the given text.',
    inputSchema: { type: 'object', properties: { path: { type: 'string' }, text: { type: 'string' } }, required: ['path'] },
  },
  { ...echo, name: 'read', annotations: { readOnlyHint: true } },
];

describe.each([
  ['with sessions', startSessions],
  ['without sessions', startStateless],
] as const)('the tool list of a server %s', (_description, start) => {
  it('contains all tools before an application is saved', async () => {
    const server = await start([...tools]);
    await using service = await startService(configuration);
    const { status, json } = await list(service, { toolset: toToolset(server.url, {}, { allowed_tools: ['read'] }) });
    expect(status).toBe(200);
    expect(json).toMatchObject({
      tools: [
        { name: 'read', title: '', description: '', readOnly: true },
        {
          name: 'write',
          title: 'Write a file',
          description: 'Writes the given text.',
          parameters: { properties: { path: { type: 'string' } }, required: ['path'] },
          readOnly: false,
        },
      ],
      count: 2,
      leftOut: [],
      failure: null,
    });
  });
});

it('the tool list is loaded each time, also from a server that was unresponsive before', async () => {
  const servedTools = [...tools];
  let isUnresponsive = true;
  const server = await startSessions(servedTools, {
    before: () => (isUnresponsive ? new Promise<Response>(() => undefined) : undefined),
  });
  await using service = await startService({ ...configuration, tools: { connectMs: 200, listMs: 200 } });
  const body = { toolset: toToolset(server.url) };
  expect((await list(service, body)).json).toMatchObject({ failure: { reason: 'mute' } });
  isUnresponsive = false;
  service.reload(configuration);
  expect(((await list(service, body)).json as ToolList).tools).toHaveLength(2);
  servedTools.pop();
  expect(((await list(service, body)).json as ToolList).tools).toHaveLength(1);
  await expect.poll(() => server.sessions.open.size).toBe(0);
});

it('the tool list masks credentials that the server echoes', async () => {
  const secret = 'canary-token';
  const echoedFields = { description: `Called with ${secret}`, title: secret };
  const inputSchema = { type: 'object', properties: { a: { type: 'string', default: secret } } };
  const server = await startStateless([{ ...echo, ...echoedFields, inputSchema }]);
  await using service = await startService(configuration);
  const authorization = { type: 'bearer', token: secret };
  const { text, json } = await list(service, { toolset: toToolset(server.url, { authorization }) });
  expect(text).not.toContain(secret);
  expect(json).toMatchObject({ tools: [{ title: '***', description: 'Called with ***' }] });
  expect(server.seen.at(-1)?.headers.authorization).toBe(`Bearer ${secret}`);
});

it('the tool list counts more than 512 tools, names invalid ones, and drops long schemas before names', async () => {
  const longSchema = { type: 'object', properties: { a: { type: 'string', description: 'x'.repeat(20_000) } } };
  const manyTools = Array.from({ length: 600 }, (_, index) => ({
    ...echo,
    name: `tool-${1000 + index}`,
    inputSchema: longSchema,
  }));
  const invalidTool = { ...echo, name: 'odd', inputSchema: { type: 'string' } };
  const server = await startStateless([...manyTools, invalidTool]);
  await using service = await startService(configuration);
  const { json, text } = await list(service, { toolset: toToolset(server.url) });
  const toolList = json as ToolList;
  expect(toolList).toMatchObject({ count: 600, leftOut: ['odd'], failure: null });
  expect([toolList.tools.length, toolList.tools[0]?.name]).toEqual([512, 'tool-1000']);
  expect([toolList.tools[0]?.parameters !== undefined, toolList.tools.at(-1)?.parameters]).toEqual([true, undefined]);
  expect(text.length).toBeLessThan(4_000_000);
});

describe('the failure of a tool list has a reason', () => {
  const startAnswering = async (status: number, headers: Record<string, string> = {}) =>
    (await startWebServer(() => new Response('no', { status, headers }))).url;
  const authorization = { type: 'bearer', token: 'wrong' };

  it('if no server listens, or its host is unknown', async () => {
    expect(await getFailure(`http://127.0.0.1:${await findFreePort()}/mcp`)).toMatchObject({ reason: 'unreachable' });
    expect(await getFailure('http://nowhere.invalid/mcp')).toMatchObject({ reason: 'unreachable' });
  });

  it('if it does not respond', async () => {
    const { url } = await startWebServer(() => new Promise<Response>(() => undefined));
    expect(await getFailure(url, {}, { ...configuration, tools: { connectMs: 200, listMs: 200 } })).toMatchObject({
      reason: 'mute',
    });
    const unresponsive = await startStateless([echo], {
      before: instead('tools/list', () => new Response(new ReadableStream())),
    });
    expect(await getFailure(unresponsive.url, {}, { ...configuration, tools: { listMs: 200 } })).toMatchObject({
      reason: 'mute',
    });
  });

  it('if its address is private', async () => {
    expect(await getFailure('http://169.254.169.254/mcp', {}, { security: {} })).toMatchObject({ reason: 'address_refused' });
    expect(await getFailure('http://localhost:8080/mcp', {}, { security: {} })).toMatchObject({ reason: 'address_refused' });
  });

  it('if it requires other credentials or sign-in', async () => {
    expect(await getFailure(await startAnswering(401))).toMatchObject({ reason: 'credentials_missing' });
    expect(await getFailure(await startAnswering(401), { authorization })).toMatchObject({ reason: 'credentials_refused' });
    expect(await getFailure(await startAnswering(403))).toMatchObject({ reason: 'credentials_refused' });
    const metadata = { 'www-authenticate': 'Bearer resource_metadata="https://x.example/.well-known/oauth-protected-resource"' };
    expect(await getFailure(await startAnswering(401, metadata))).toMatchObject({ reason: 'sign_in_required' });
    expect(await getFailure(await startAnswering(401, metadata), { authorization })).toMatchObject({
      reason: 'credentials_refused',
    });
    const token_url = await startAnswering(401);
    const client = { type: 'client_id_secret', client_id: 'id', client_secret: 'canary-secret', token_url };
    const failure = await getFailure(await startAnswering(200), { authorization: client });
    expect(failure).toMatchObject({ reason: 'credentials_refused' });
    expect(failure?.message).not.toContain('canary-secret');
  });

  it('if it is another kind of server', async () => {
    expect(await getFailure(await startAnswering(404))).toMatchObject({ reason: 'other_protocol' });
    const page = await startWebServer(() => new Response('<html>', { headers: { 'content-type': 'text/html' } }));
    expect(await getFailure(page.url)).toMatchObject({ reason: 'other_protocol' });
    expect(await getFailure(await startAnswering(500))).toMatchObject({ reason: 'failed' });
  });
});

describe('stored secrets in a tool list request', () => {
  const application = `applications/${ownBucket}/kept`;
  const maskedAuthorization = { type: 'bearer', token: '***' };

  it('are sent only if the toolset calls the server that they belong to', async () => {
    const server = await startStateless([echo]);
    const otherServer = await startStateless([echo]);
    await using service = await startService(configuration);
    const storedToolset = toToolset(server.url, { authorization: { type: 'bearer', token: 'canary-token' } });
    await save(service, getApplicationPath('kept'), quickApp({ mcp_toolset: [storedToolset] }));
    const masked = toToolset(server.url, { authorization: maskedAuthorization });
    expect((await list(service, { toolset: masked, application })).json).toMatchObject({ count: 1, failure: null });
    expect(server.seen.at(-1)?.headers.authorization).toBe('Bearer canary-token');
    const movedToolset = toToolset(otherServer.url, { authorization: maskedAuthorization });
    for (const body of [{ toolset: movedToolset, application }, { toolset: masked }]) {
      const { status, error } = await list(service, body);
      expect([status, error.param]).toEqual([400, 'toolset.mcp_server_info.authorization.token']);
    }
    expect(otherServer.seen).toEqual([]);
  });

  it('are used only for their owner', async () => {
    await using service = await startService({
      ...configuration,
      keys: { [callerKey]: { project: 'test' }, 'other-key': { project: 'other' } },
    });
    const toolset = toToolset('https://files.example/mcp', { authorization: maskedAuthorization });
    const otherUserResponse = await list(service, { toolset, application }, { ...withKey(), 'api-key': 'other-key' });
    expect([otherUserResponse.status, otherUserResponse.error.code]).toEqual([403, 'access_denied']);
    const missing = await list(service, { toolset, application: `applications/${ownBucket}/none` });
    const bucketOnly = await list(service, { toolset, application: `applications/${getProjectBucket('test')}` });
    const model = await list(service, { toolset, application: 'demo' });
    expect([missing, bucketOnly, model].map(({ error }) => error.code)).toEqual(Array(3).fill('deployment_not_found'));
  });
});

describe('a tool list request is rejected', () => {
  it.each<[string, object, string]>([
    ['without a toolset', {}, 'toolset'],
    ['without a server', { toolset: { type: 'mcp', name: 'x' } }, 'toolset.mcp_server_info'],
    ['with an invalid URL', { toolset: toToolset('file:///etc/passwd') }, 'toolset.mcp_server_info.url'],
    ['with a URL that contains a password', { toolset: toToolset('https://me:pw@x.example/') }, 'toolset.mcp_server_info.url'],
    ['with an unknown field in the toolset', { toolset: toToolset('https://x.example/', {}, { tool: 1 }) }, 'toolset.tool'],
    ['with an unknown field', { toolset: toToolset('https://x.example/'), app: 'x' }, 'app'],
    ['with the toolset of a web API', { toolset: { type: 'rest-api', name: 'x', tools: [] } }, 'toolset.type'],
  ])('%s', async (_description, body, param) => {
    await using service = await startService({});
    const { status, error } = await list(service, body);
    expect([status, error.code, error.param]).toEqual([400, 'invalid_request', param]);
  });

  it('if eight requests of the caller are in progress', async () => {
    const { url, seen } = await startWebServer(() => new Promise<Response>(() => undefined));
    await using service = await startService({ ...configuration, tools: { connectMs: 2_000, listMs: 2_000 } });
    const requests = Array.from({ length: 8 }, () => list(service, { toolset: toToolset(url) }));
    await expect.poll(() => seen.length, { timeout: 20_000 }).toBe(8);
    const { status, error, headers } = await list(service, { toolset: toToolset(url) });
    expect([status, error.code, headers['retry-after']]).toEqual([503, 'overloaded', '5']);
    await Promise.all(requests);
  });
});
