import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#base/json/json.ts';
import { callerKey, type TestService } from '#test/start-service.ts';
import { echo, instead, startSessions, startStateless } from './servers.ts';
import { ask, callsTools, choiceOf, messagesOf, offered, says, startApp, startEverything, toolTexts } from './support.ts';

const traced = { 'x-parley-trace': 'true' };
const admin = { keys: { [callerKey]: { project: 'test', role: 'admin' } } };

async function startersOf(service: TestService): Promise<readonly string[]> {
  const headers = { 'api-key': callerKey };
  const { json } = await service.sendRequest({ method: 'GET', path: '/v1/deployments/app/configuration', headers });
  return (json as { starters: string[] }).starters;
}

/** Of the reply: what its trace tells, item by item. */
function traceOf(answered: Awaited<ReturnType<TestService['chat']>>): readonly JsonObject[] {
  return (choiceOf(answered).message.custom_content as unknown as { trace: JsonObject[] }).trace;
}

describe.each([
  ['streamableHttp', 'streamable_http'],
  ['sse', 'sse'],
] as const)('the reference server over %s', (transport, protocol) => {
  it('tells the model how it is used, what it has to read, and users how to begin', async () => {
    const { url } = await startEverything(transport);
    const calls = callsTools(
      ['list_resources'],
      ['read_resource', { uri: 'demo://resource/static/document/features.md' }],
      ['read_resource', { uri: 'demo://resource/dynamic/blob/7' }],
      ['read_resource', { uri: 'demo://resource/none' }],
      ['read_resource'],
    );
    const toolset = { url, protocol, allowed_tools: ['echo'], resources: true, prompts: true };
    const options = { configuration: { ...admin, security: { allowPrivateNetworks: ['127.0.0.1'] } } };
    const { service, model } = await startApp(toolset, [calls, says('Done.')], options);
    const answered = await service.chat('app', ask, traced);

    expect(offered(model)).toEqual(['echo', 'list_resources', 'read_resource']);
    const [system] = messagesOf(model, 0);
    expect(system?.role).toBe('system');
    expect(system?.content).toMatch(
      /^Use the tools\.\n\n# Tools\n\nThe server of these tools says of them:\n\n# Everything Server/,
    );
    expect(JSON.stringify(traceOf(answered)[0]?.sent)).toContain('Everything Server');

    const [listed, text, blob, none, faulty] = toolTexts(model);
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
    expect(choiceOf(answered).message.custom_content.stages?.map(({ name, status }) => [name, status])).toEqual([
      ['list_resources', 'completed'],
      ['read_resource', 'completed'],
      ['read_resource', 'completed'],
      ['read_resource', 'failed'],
      ['read_resource', 'failed'],
    ]);
    expect(await startersOf(service)).toEqual(['This is a simple prompt without arguments.']);
  });
});

const books = { 'shelf://1': 'The first shelf.' };

describe.each([
  ['with sessions', startSessions],
  ['without sessions', startStateless],
] as const)('a server %s', (_, start) => {
  it('has its words, resources and prompts as it says them', async () => {
    const instructions = 'Ask for a shelf first.';
    const prompts = { sum: 'Sum it up.', long: 'x'.repeat(4001), empty: ' ' };
    const server = await start([echo], { instructions, resources: books, prompts });
    const calls = callsTools(['list_resources'], ['read_resource', { uri: 'shelf://1' }]);
    const toolset = { url: server.url, resources: true, prompts: true };
    const { service, model } = await startApp(toolset, [calls, says('Done.')], { properties: { starters: ['Hello.'] } });
    await service.chat('app', ask);
    expect(messagesOf(model, 0)[0]?.content).toContain(instructions);
    const [listed, read] = toolTexts(model);
    expect(JSON.parse(listed ?? '')).toEqual({ resources: [{ uri: 'shelf://1', name: 'shelf://1' }] });
    expect(read).toBe('The first shelf.');
    expect(await startersOf(service)).toEqual(['Hello.', 'Sum it up.']);
  });

  it('is asked for neither resources nor prompts without being told to', async () => {
    const server = await start([echo], { resources: books, prompts: { sum: 'Sum it up.' } });
    const { service, model } = await startApp({ url: server.url }, [says('Done.')]);
    await service.chat('app', ask);
    expect([offered(model), await startersOf(service)]).toEqual([['echo'], []]);
    expect(messagesOf(model, 0)[0]?.content).toBe('Use the tools.');
    expect(server.seen.map(({ message }) => message.method)).not.toContain('prompts/list');
  });
});

describe('what a server says of its tools', () => {
  it('is shortened, in all as well, and left out where none of its tools is offered', async () => {
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
    const { service, model } = await startApp({ url: first?.url ?? '' }, [says('Done.')], { properties: { mcp_toolset } });
    await service.chat('app', ask);
    const content = messagesOf(model, 0)[0]?.content ?? '';
    expect(content).not.toContain('# Unused');
    expect(content).toContain('# Server 0');
    expect(content).toContain('[The rest was left out.]');
    expect(content).not.toContain('# Server 4');
    expect(Buffer.byteLength(content)).toBeLessThan(33 * 1024);
  });

  it('does not show the credentials it was sent', async () => {
    const server = await startStateless([echo], { instructions: 'Your key is canary-token.' });
    const toolset = { url: server.url, authorization: { type: 'bearer', token: 'canary-token' } };
    const { service, model } = await startApp(toolset, [says('Done.')]);
    await service.chat('app', ask);
    expect(messagesOf(model, 0)[0]?.content).toContain('Your key is ***.');
  });
});

describe('resources', () => {
  it('that the server does not have are a failed stage', async () => {
    const server = await startStateless([echo]);
    const { service, model } = await startApp({ url: server.url, resources: true }, [says('Done.')]);
    const { message } = choiceOf(await service.chat('app', ask));
    expect(offered(model)).toEqual(['echo']);
    expect(message.custom_content.stages).toMatchObject([
      { status: 'failed', content: 'The MCP server Tools has no resources.' },
    ]);
  });

  it('of two servers are read with tools of different names, and a tool of the server keeps its own', async () => {
    const one = await startStateless([{ ...echo, name: 'read_resource' }], { resources: { 'a://1': 'From one.' } });
    const two = await startSessions([], { resources: { 'b://1': 'From two.' } });
    const mcp_toolset = [one, two].map(({ url }, nth) => ({
      ...{ type: 'mcp', name: `Server ${nth}`, mcp_server_info: { url, protocol: 'streamable_http' }, resources: true },
    }));
    const { service, model } = await startApp({ url: one.url }, [says('Done.'), says('Done.')], { properties: { mcp_toolset } });
    await service.chat('app', ask);
    const names = offered(model);
    expect(names).toEqual([
      'read_resource',
      'list_resources',
      expect.stringMatching(/^read_resource_[0-9a-f]{8}$/),
      expect.stringMatching(/^list_resources_[0-9a-f]{8}$/),
      expect.stringMatching(/^read_resource_[0-9a-f]{8}$/),
    ]);
    model.script(callsTools(['read_resource', { text: 'own' }], [names[4] ?? '', { uri: 'b://1' }]), says('Done.'));
    await service.chat('app', ask);
    expect(toolTexts(model, 2)).toEqual(['echo own', 'From two.']);
  });

  it('that are listed oddly are left out, and the others are there', async () => {
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
      callsTools(['list_resources', { cursor: 'before' }]),
      says('Done.'),
    ]);
    await service.chat('app', ask);
    const [listed] = toolTexts(model);
    expect(JSON.parse(listed ?? '')).toEqual({ resources: [{ uri: 'a://1', name: 'a://1' }], nextCursor: 'more' });
    expect(server.asked('resources/list')[0]?.message.params).toMatchObject({ cursor: 'before' });
  });
});

describe('prompts', () => {
  it('of a server that is silent do not hold up the ways to begin', async () => {
    const server = await startStateless([echo], {
      prompts: {},
      before: instead('prompts/list', () => new Response(new ReadableStream())),
    });
    const { service } = await startApp({ url: server.url, prompts: true }, [], { properties: { starters: ['Hello.'] } });
    expect(await startersOf(service)).toEqual(['Hello.']);
  });

  it('that need a value, are no text of the user or are refused are left out', async () => {
    const entry = (name: string, more: object = {}) => ({ name, ...more });
    const listed = [
      entry('ready', { arguments: [{ name: 'style' }] }),
      entry('filled', { arguments: [{ name: 'city', required: true }] }),
    ];
    const prompts = [...listed, entry('answered'), entry('refused'), {}];
    const server = await startSessions([echo], {
      prompts: {},
      before: async (request) => {
        const asked = request.method === 'POST' ? ((await request.clone().json()) as JsonObject) : {};
        const { id, method, params } = asked as { id: number; method?: string; params?: { name?: string } };
        const answer = (result: object) => Response.json({ jsonrpc: '2.0', id, result });
        if (method === 'prompts/list') return answer({ prompts });
        if (method !== 'prompts/get') return undefined;
        if (params?.name === 'refused') return Response.json({ jsonrpc: '2.0', id, error: { code: -32602, message: 'no' } });
        const role = params?.name === 'answered' ? 'assistant' : 'user';
        return answer({ messages: [{ role, content: { type: 'text', text: `From ${params?.name}.` } }] });
      },
    });
    const { service } = await startApp({ url: server.url, prompts: true }, []);
    expect(await startersOf(service)).toEqual(['From ready.']);
  });
});

describe('the trace of a run', () => {
  it('has a server that did not list its tools in time, with the time and the reason', async () => {
    const silent = instead(
      'tools/list',
      () => new Response(new ReadableStream(), { headers: { 'content-type': 'text/event-stream' } }),
    );
    const server = await startStateless([echo], { before: silent });
    const options = {
      configuration: { ...admin, tools: { connectMs: 30_000, listMs: 300 }, security: { allowPrivateNetworks: ['127.0.0.1'] } },
    };
    const { service } = await startApp({ url: server.url }, [callsTools(['echo']), says('Done.')], options);
    const trace = traceOf(await service.chat('app', ask, traced));
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
