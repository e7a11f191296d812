import { describe, expect, it } from 'vitest';
import { freePort } from '#test/listening.ts';
import type { TestResponse } from '#test/send-request.ts';
import { callerKey, startService, type TestService, withKey } from '#test/start-service.ts';
import { echo, instead, type ServedTool, startSessions, startStateless } from '../mcp/servers.ts';
import { startWebServer } from '../mcp/support.ts';
import { bucketOfProject, ownBucket, pathOf, quickApp, save } from './support.ts';

const models = { demo: { upstreams: [{ protocol: 'demo' }] } };
const open = { models, security: { allowPrivateNetworks: ['127.0.0.1'] } };

interface Listed {
  readonly tools: readonly { readonly name: string; readonly parameters?: object }[];
  readonly failure: { readonly reason: string; readonly message: string } | null;
}

function toToolset(url: string, server: object = {}, more: object = {}): object {
  return { type: 'mcp', name: 'Files', mcp_server_info: { url, protocol: 'streamable_http', ...server }, ...more };
}

function list(service: Pick<TestService, 'sendRequest'>, body: object, headers = withKey()): Promise<TestResponse> {
  return service.sendRequest({ path: '/v1/tools/list', headers, body });
}

async function failureOf(url: string, server: object = {}, configuration: object = open): Promise<Listed['failure']> {
  await using service = await startService(configuration);
  const { status, json } = await list(service, { toolset: toToolset(url, server) });
  const { tools, failure } = json as Listed;
  expect([status, tools]).toEqual([200, []]);
  return failure;
}

const tools: ServedTool[] = [
  {
    ...echo,
    name: 'write',
    title: 'Write a file',
    description: 'Writes what it is given.',
    inputSchema: { type: 'object', properties: { path: { type: 'string' }, text: { type: 'string' } }, required: ['path'] },
  },
  { ...echo, name: 'read', annotations: { readOnlyHint: true } },
];

describe.each([
  ['with sessions', startSessions],
  ['without sessions', startStateless],
] as const)('a server %s', (_which, start) => {
  it('lists all tools of a server before an application is saved', async () => {
    const server = await start([...tools]);
    await using service = await startService(open);
    const { status, json } = await list(service, { toolset: toToolset(server.url, {}, { allowed_tools: ['read'] }) });
    expect(status).toBe(200);
    expect(json).toMatchObject({
      tools: [
        { name: 'read', title: '', description: '', readOnly: true },
        {
          name: 'write',
          title: 'Write a file',
          description: 'Writes what it is given.',
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

it('the list is loaded each time, also from a server that was unresponsive before', async () => {
  const offered = [...tools];
  let isMute = true;
  const server = await startSessions(offered, {
    before: () => (isMute ? new Promise<Response>(() => undefined) : undefined),
  });
  await using service = await startService({ ...open, tools: { connectMs: 200, listMs: 200 } });
  const body = { toolset: toToolset(server.url) };
  expect((await list(service, body)).json).toMatchObject({ failure: { reason: 'mute' } });
  isMute = false;
  service.reload(open);
  expect(((await list(service, body)).json as Listed).tools).toHaveLength(2);
  offered.pop();
  expect(((await list(service, body)).json as Listed).tools).toHaveLength(1);
  await expect.poll(() => server.sessions.open.size).toBe(0);
});

it('the list masks credentials that the server echoes', async () => {
  const secret = 'canary-token';
  const told = { description: `Called with ${secret}`, title: secret };
  const inputSchema = { type: 'object', properties: { a: { type: 'string', default: secret } } };
  const server = await startStateless([{ ...echo, ...told, inputSchema }]);
  await using service = await startService(open);
  const authorization = { type: 'bearer', token: secret };
  const { text, json } = await list(service, { toolset: toToolset(server.url, { authorization }) });
  expect(text).not.toContain(secret);
  expect(json).toMatchObject({ tools: [{ title: '***', description: 'Called with ***' }] });
  expect(server.seen.at(-1)?.headers.authorization).toBe(`Bearer ${secret}`);
});

it('the list counts more than 512 tools, names invalid ones, and drops long schemas before names', async () => {
  const long = { type: 'object', properties: { a: { type: 'string', description: 'x'.repeat(20_000) } } };
  const many = Array.from({ length: 600 }, (_, nth) => ({ ...echo, name: `tool-${1000 + nth}`, inputSchema: long }));
  const odd = { ...echo, name: 'odd', inputSchema: { type: 'string' } };
  const server = await startStateless([...many, odd]);
  await using service = await startService(open);
  const { json, text } = await list(service, { toolset: toToolset(server.url) });
  const listed = json as Listed;
  expect(listed).toMatchObject({ count: 600, leftOut: ['odd'], failure: null });
  expect([listed.tools.length, listed.tools[0]?.name]).toEqual([512, 'tool-1000']);
  expect([listed.tools[0]?.parameters !== undefined, listed.tools.at(-1)?.parameters]).toEqual([true, undefined]);
  expect(text.length).toBeLessThan(4_000_000);
});

describe('the failure of a server has a reason', () => {
  const answering = async (status: number, headers: Record<string, string> = {}) =>
    (await startWebServer(() => new Response('no', { status, headers }))).url;
  const authorization = { type: 'bearer', token: 'wrong' };

  it('if no server listens, or its host is unknown', async () => {
    expect(await failureOf(`http://127.0.0.1:${await freePort()}/mcp`)).toMatchObject({ reason: 'unreachable' });
    expect(await failureOf('http://nowhere.invalid/mcp')).toMatchObject({ reason: 'unreachable' });
  });

  it('if it does not respond', async () => {
    const { url } = await startWebServer(() => new Promise<Response>(() => undefined));
    expect(await failureOf(url, {}, { ...open, tools: { connectMs: 200, listMs: 200 } })).toMatchObject({ reason: 'mute' });
    const mute = await startStateless([echo], { before: instead('tools/list', () => new Response(new ReadableStream())) });
    expect(await failureOf(mute.url, {}, { ...open, tools: { listMs: 200 } })).toMatchObject({ reason: 'mute' });
  });

  it('where its address is private', async () => {
    expect(await failureOf('http://169.254.169.254/mcp', {}, { security: {} })).toMatchObject({ reason: 'address_refused' });
    expect(await failureOf('http://localhost:8080/mcp', {}, { security: {} })).toMatchObject({ reason: 'address_refused' });
  });

  it('where it wants to know who calls', async () => {
    expect(await failureOf(await answering(401))).toMatchObject({ reason: 'credentials_missing' });
    expect(await failureOf(await answering(401), { authorization })).toMatchObject({ reason: 'credentials_refused' });
    expect(await failureOf(await answering(403))).toMatchObject({ reason: 'credentials_refused' });
    const metadata = { 'www-authenticate': 'Bearer resource_metadata="https://x.example/.well-known/oauth-protected-resource"' };
    expect(await failureOf(await answering(401, metadata))).toMatchObject({ reason: 'sign_in_required' });
    expect(await failureOf(await answering(401, metadata), { authorization })).toMatchObject({ reason: 'credentials_refused' });
    const token_url = await answering(401);
    const client = { type: 'client_id_secret', client_id: 'id', client_secret: 'canary-secret', token_url };
    const failure = await failureOf(await answering(200), { authorization: client });
    expect(failure).toMatchObject({ reason: 'credentials_refused' });
    expect(failure?.message).not.toContain('canary-secret');
  });

  it('if it is another kind of server', async () => {
    expect(await failureOf(await answering(404))).toMatchObject({ reason: 'other_protocol' });
    const page = await startWebServer(() => new Response('<html>', { headers: { 'content-type': 'text/html' } }));
    expect(await failureOf(page.url)).toMatchObject({ reason: 'other_protocol' });
    expect(await failureOf(await answering(500))).toMatchObject({ reason: 'failed' });
  });
});

describe('stored secrets', () => {
  const application = `applications/${ownBucket}/kept`;
  const hidden = { type: 'bearer', token: '***' };

  it('are sent where the toolset of that name calls the server they were given for', async () => {
    const server = await startStateless([echo]);
    const other = await startStateless([echo]);
    await using service = await startService(open);
    const stored = toToolset(server.url, { authorization: { type: 'bearer', token: 'canary-token' } });
    await save(service, pathOf('kept'), quickApp({ mcp_toolset: [stored] }));
    const written = toToolset(server.url, { authorization: hidden });
    expect((await list(service, { toolset: written, application })).json).toMatchObject({ count: 1, failure: null });
    expect(server.seen.at(-1)?.headers.authorization).toBe('Bearer canary-token');
    const moved = toToolset(other.url, { authorization: hidden });
    for (const body of [{ toolset: moved, application }, { toolset: written }]) {
      const { status, error } = await list(service, body);
      expect([status, error.param]).toEqual([400, 'toolset.mcp_server_info.authorization.token']);
    }
    expect(other.seen).toEqual([]);
  });

  it('are used only for their owner', async () => {
    await using service = await startService({
      ...open,
      keys: { [callerKey]: { project: 'test' }, 'other-key': { project: 'other' } },
    });
    const toolset = toToolset('https://files.example/mcp', { authorization: hidden });
    const others = await list(service, { toolset, application }, { ...withKey(), 'api-key': 'other-key' });
    expect([others.status, others.error.code]).toEqual([403, 'access_denied']);
    const none = await list(service, { toolset, application: `applications/${ownBucket}/none` });
    const nowhere = await list(service, { toolset, application: `applications/${bucketOfProject('test')}` });
    const model = await list(service, { toolset, application: 'demo' });
    expect([none, nowhere, model].map(({ error }) => error.code)).toEqual(Array(3).fill('deployment_not_found'));
  });
});

describe('a list is rejected', () => {
  it.each<[string, object, string]>([
    ['of nothing', {}, 'toolset'],
    ['of no server', { toolset: { type: 'mcp', name: 'x' } }, 'toolset.mcp_server_info'],
    ['with an invalid address', { toolset: toToolset('file:///etc/passwd') }, 'toolset.mcp_server_info.url'],
    ['of an address with a password', { toolset: toToolset('https://me:pw@x.example/') }, 'toolset.mcp_server_info.url'],
    ['of a toolset with an unknown field', { toolset: toToolset('https://x.example/', {}, { tool: 1 }) }, 'toolset.tool'],
    ['with an unknown field', { toolset: toToolset('https://x.example/'), app: 'x' }, 'app'],
    ['of a web API', { toolset: { type: 'rest-api', name: 'x', tools: [] } }, 'toolset.type'],
  ])('%s', async (_what, body, param) => {
    await using service = await startService({});
    const { status, error } = await list(service, body);
    expect([status, error.code, error.param]).toEqual([400, 'invalid_request', param]);
  });

  it('where the caller has eight servers asked already', async () => {
    const { url, seen } = await startWebServer(() => new Promise<Response>(() => undefined));
    await using service = await startService({ ...open, tools: { connectMs: 2_000, listMs: 2_000 } });
    const asked = Array.from({ length: 8 }, () => list(service, { toolset: toToolset(url) }));
    await expect.poll(() => seen.length, { timeout: 20_000 }).toBe(8);
    const { status, error, headers } = await list(service, { toolset: toToolset(url) });
    expect([status, error.code, headers['retry-after']]).toEqual([503, 'overloaded', '5']);
    await Promise.all(asked);
  });
});
