import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#base/json/json.ts';
import { callerKey, type TestService } from '#test/start-service.ts';
import { echo, instead, startSessions, startStateless } from './servers.ts';
import {
  chatRequest,
  getChoice,
  getMessages,
  getOfferedTools,
  getToolResults,
  startApp,
  startEverything,
  textReply,
  toolCallReply,
} from './support.ts';

const traced = { 'x-parley-trace': 'true' };
const admin = { keys: { [callerKey]: { project: 'test', role: 'admin' } } };

async function getStarters(service: TestService): Promise<readonly string[]> {
  const headers = { 'api-key': callerKey };
  const { json } = await service.sendRequest({ method: 'GET', path: '/v1/deployments/app/configuration', headers });
  return (json as { starters: string[] }).starters;
}

/** Returns the trace items of a reply. */
function getTrace(reply: Awaited<ReturnType<TestService['chat']>>): readonly JsonObject[] {
  return (getChoice(reply).message.custom_content as unknown as { trace: JsonObject[] }).trace;
}

describe.each([
  ['streamableHttp', 'streamable_http'],
  ['sse', 'sse'],
] as const)('the reference server over %s', (transport, protocol) => {
  it('provides instructions and resources to the model and starters to users', async () => {
    const { url } = await startEverything(transport);
    const calls = toolCallReply(
      ['list_resources'],
      ['read_resource', { uri: 'demo://resource/static/document/features.md' }],
      ['read_resource', { uri: 'demo://resource/dynamic/blob/7' }],
      ['read_resource', { uri: 'demo://resource/none' }],
      ['read_resource'],
    );
    const toolset = { url, protocol, allowed_tools: ['echo'], resources: true, prompts: true };
    const options = { configuration: { ...admin, security: { allowPrivateNetworks: ['127.0.0.1'] } } };
    const { service, model } = await startApp(toolset, [calls, textReply('Done.')], options);
    const reply = await service.chat('app', chatRequest, traced);

    expect(getOfferedTools(model)).toEqual(['echo', 'list_resources', 'read_resource']);
    const [system] = getMessages(model, 0);
    expect(system?.role).toBe('system');
    expect(system?.content).toMatch(
      /^Use the tools\.\n\n# Tools\n\nInstructions from the server of these tools:\n\n# Everything Server/,
    );
    expect(JSON.stringify(getTrace(reply)[0]?.sent)).toContain('Everything Server');

    const [listed, text, blob, none, faulty] = getToolResults(model);
    expect(JSON.parse(listed ?? '')).toMatchObject({
      resources: expect.arrayContaining([
        expect.objectContaining({ uri: 'demo://resource/static/document/features.md', mimeType: 'text/markdown' }),
      ]),
      templates: expect.arrayContaining([expect.objectContaining({ uriTemplate: 'demo://resource/dynamic/text/{resourceId}' })]),
    });
    expect(text).toContain('Everything Server');
    expect(blob).toContain('Resource 7');
    expect(none).toContain('not found');
    expect(faulty).toContain('uri');
    expect(getChoice(reply).message.custom_content.stages?.map(({ name, status }) => [name, status])).toEqual([
      ['list_resources', 'completed'],
      ['read_resource', 'completed'],
      ['read_resource', 'completed'],
      ['read_resource', 'failed'],
      ['read_resource', 'failed'],
    ]);
    expect(await getStarters(service)).toEqual(['This is a simple prompt without arguments.']);
  });
});

const books = { 'shelf://1': 'The first shelf.' };

describe.each([
  ['with sessions', startSessions],
  ['without sessions', startStateless],
] as const)('an MCP server %s', (_, start) => {
  it('provides its instructions, resources, and short prompts unchanged', async () => {
    const instructions = 'Ask for a shelf first.';
    const prompts = { sum: 'Sum it up.', long: 'x'.repeat(4001), empty: ' ' };
    const server = await start([echo], { instructions, resources: books, prompts });
    const calls = toolCallReply(['list_resources'], ['read_resource', { uri: 'shelf://1' }]);
    const toolset = { url: server.url, resources: true, prompts: true };
    const { service, model } = await startApp(toolset, [calls, textReply('Done.')], { properties: { starters: ['Hello.'] } });
    await service.chat('app', chatRequest);
    expect(getMessages(model, 0)[0]?.content).toContain(instructions);
    const [listed, read] = getToolResults(model);
    expect(JSON.parse(listed ?? '')).toEqual({ resources: [{ uri: 'shelf://1', name: 'shelf://1' }] });
    expect(read).toBe('The first shelf.');
    expect(await getStarters(service)).toEqual(['Hello.', 'Sum it up.']);
  });

  it('provides no resources or prompts if the toolset does not enable them', async () => {
    const server = await start([echo], { resources: books, prompts: { sum: 'Sum it up.' } });
    const { service, model } = await startApp({ url: server.url }, [textReply('Done.')]);
    await service.chat('app', chatRequest);
    expect([getOfferedTools(model), await getStarters(service)]).toEqual([['echo'], []]);
    expect(getMessages(model, 0)[0]?.content).toBe('Use the tools.');
    expect(server.seen.map(({ message }) => message.method)).not.toContain('prompts/list');
  });
});

describe('the instructions of an MCP server', () => {
  it('are truncated per server and in total, and omitted if no tool of the server is offered', async () => {
    const long = `${'word '.repeat(4000)}`;
    const servers = await Promise.all(Array.from({ length: 6 }, () => startStateless([echo], { instructions: long })));
    const toEntry = (url: string, name: string, more: object = {}) => ({
      ...{ type: 'mcp', name, mcp_server_info: { url, protocol: 'streamable_http' } },
      ...more,
    });
    const [first] = servers;
    const mcp_toolset = [
      toEntry(first?.url ?? '', 'Unused', { allowed_tools: [] }),
      ...servers.map(({ url }, nth) => toEntry(url, `Server ${nth}`)),
    ];
    const { service, model } = await startApp({ url: first?.url ?? '' }, [textReply('Done.')], { properties: { mcp_toolset } });
    await service.chat('app', chatRequest);
    const content = getMessages(model, 0)[0]?.content ?? '';
    expect(content).not.toContain('# Unused');
    expect(content).toContain('# Server 0');
    expect(content).toContain('[The rest is omitted.]');
    expect(content).not.toContain('# Server 4');
    expect(Buffer.byteLength(content)).toBeLessThan(33 * 1024);
  });

  it('have the credentials of the toolset masked', async () => {
    const server = await startStateless([echo], { instructions: 'Your key is canary-token.' });
    const toolset = { url: server.url, authorization: { type: 'bearer', token: 'canary-token' } };
    const { service, model } = await startApp(toolset, [textReply('Done.')]);
    await service.chat('app', chatRequest);
    expect(getMessages(model, 0)[0]?.content).toContain('Your key is ***.');
  });
});

describe('resources of an MCP server', () => {
  it('are reported in a failed stage if the server has none', async () => {
    const server = await startStateless([echo]);
    const { service, model } = await startApp({ url: server.url, resources: true }, [textReply('Done.')]);
    const { message } = getChoice(await service.chat('app', chatRequest));
    expect(getOfferedTools(model)).toEqual(['echo']);
    expect(message.custom_content.stages).toMatchObject([
      { status: 'failed', content: 'The MCP server Tools has no resources.' },
    ]);
  });

  it('are read with a differently named tool for each server, and a server tool keeps its name', async () => {
    const one = await startStateless([{ ...echo, name: 'read_resource' }], { resources: { 'a://1': 'From one.' } });
    const two = await startSessions([], { resources: { 'b://1': 'From two.' } });
    const mcp_toolset = [one, two].map(({ url }, nth) => ({
      ...{ type: 'mcp', name: `Server ${nth}`, mcp_server_info: { url, protocol: 'streamable_http' }, resources: true },
    }));
    const { service, model } = await startApp({ url: one.url }, [textReply('Done.'), textReply('Done.')], {
      properties: { mcp_toolset },
    });
    await service.chat('app', chatRequest);
    const names = getOfferedTools(model);
    expect(names).toEqual([
      'read_resource',
      'list_resources',
      expect.stringMatching(/^read_resource_[0-9a-f]{8}$/),
      expect.stringMatching(/^list_resources_[0-9a-f]{8}$/),
      expect.stringMatching(/^read_resource_[0-9a-f]{8}$/),
    ]);
    model.script(toolCallReply(['read_resource', { text: 'own' }], [names[4] ?? '', { uri: 'b://1' }]), textReply('Done.'));
    await service.chat('app', chatRequest);
    expect(getToolResults(model, 2)).toEqual(['echo own', 'From two.']);
  });

  it('are omitted from the list if their entry is invalid', async () => {
    const resources = [{ uri: 1 }, null, { uri: 'a://1', name: 7, description: [], size: 'x' }];
    const odd = instead('resources/list', (id) =>
      Response.json({
        jsonrpc: '2.0',
        id,
        result: { resources, nextCursor: 'more', resultType: 'complete', ttlMs: 0, cacheScope: 'private' },
      }),
    );
    const server = await startStateless([echo], { resources: books, before: odd });
    const { service, model } = await startApp({ url: server.url, resources: true }, [
      toolCallReply(['list_resources', { cursor: 'before' }]),
      textReply('Done.'),
    ]);
    await service.chat('app', chatRequest);
    const [listed] = getToolResults(model);
    expect(JSON.parse(listed ?? '')).toEqual({ resources: [{ uri: 'a://1', name: 'a://1' }], nextCursor: 'more' });
    expect(server.asked('resources/list')[0]?.message.params).toMatchObject({ cursor: 'before' });
  });
});

describe('prompts of an MCP server', () => {
  it('do not delay other starters if the server never lists them', async () => {
    const server = await startStateless([echo], {
      prompts: {},
      before: instead('prompts/list', () => new Response(new ReadableStream())),
    });
    const { service } = await startApp({ url: server.url, prompts: true }, [], { properties: { starters: ['Hello.'] } });
    expect(await getStarters(service)).toEqual(['Hello.']);
  });

  it('are omitted if they require an argument, fail, or are not a user message', async () => {
    const entry = (name: string, more: object = {}) => ({ name, ...more });
    const listed = [
      entry('ready', { arguments: [{ name: 'style' }] }),
      entry('filled', { arguments: [{ name: 'city', required: true }] }),
    ];
    const prompts = [...listed, entry('answered'), entry('refused'), {}];
    const server = await startSessions([echo], {
      prompts: {},
      before: async (request) => {
        const rpcRequest = request.method === 'POST' ? ((await request.clone().json()) as JsonObject) : {};
        const { id, method, params } = rpcRequest as { id: number; method?: string; params?: { name?: string } };
        const answer = (result: object) => Response.json({ jsonrpc: '2.0', id, result });
        if (method === 'prompts/list') return answer({ prompts });
        if (method !== 'prompts/get') return undefined;
        if (params?.name === 'refused') return Response.json({ jsonrpc: '2.0', id, error: { code: -32602, message: 'no' } });
        const role = params?.name === 'answered' ? 'assistant' : 'user';
        return answer({ messages: [{ role, content: { type: 'text', text: `From ${params?.name}.` } }] });
      },
    });
    const { service } = await startApp({ url: server.url, prompts: true }, []);
    expect(await getStarters(service)).toEqual(['From ready.']);
  });
});

describe('the trace of a quick app run', () => {
  it('contains a server whose tool list timed out, with the duration and the reason', async () => {
    const silent = instead(
      'tools/list',
      () => new Response(new ReadableStream(), { headers: { 'content-type': 'text/event-stream' } }),
    );
    const server = await startStateless([echo], { before: silent });
    const options = {
      configuration: { ...admin, tools: { connectMs: 30_000, listMs: 300 }, security: { allowPrivateNetworks: ['127.0.0.1'] } },
    };
    const { service } = await startApp({ url: server.url }, [toolCallReply(['echo']), textReply('Done.')], options);
    const trace = getTrace(await service.chat('app', chatRequest, traced));
    const reason = 'The MCP server Tools did not list its tools within 0.3 s.';
    expect(trace).toMatchObject([
      { index: 0, kind: 'toolset', turn: 0, name: 'Tools', at_ms: 0, sent: '', received: '', error: reason },
      { index: 1, kind: 'model', turn: 1 },
      { index: 2, kind: 'tool', turn: 1, name: 'echo', error: 'There is no tool named echo.' },
      { index: 3, kind: 'model', turn: 2 },
    ]);
    const [missing, model] = trace as { at_ms: number; duration_ms: number }[];
    expect(missing?.duration_ms).toBeGreaterThanOrEqual(299);
    expect(model?.at_ms).toBeGreaterThanOrEqual(missing?.duration_ms ?? Number.NaN);
  });
});
