import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { findFreePort } from '#test/listening.ts';
import { echo, instead, type ServedTool, startSessions, startStateless, text } from './servers.ts';
import {
  chatRequest,
  getChoice,
  getOfferedTools,
  getToolResults,
  loadMcpTools,
  startApp,
  startWebServer,
  type Toolset,
  textReply,
  toolCallReply,
} from './support.ts';

/** Returns the content of the failed stage that reports an unavailable toolset to the user. */
async function getFailureReason(toolset: Toolset, configuration: object = {}): Promise<string> {
  const { service, model } = await startApp(toolset, [textReply('Done.')], { configuration });
  const { message } = getChoice(await service.chat('app', chatRequest));
  expect(message.content).toBe('Done.');
  expect(getOfferedTools(model)).toEqual([]);
  const [stage] = message.custom_content.stages ?? [];
  expect(stage).toMatchObject({ name: 'Tools', status: 'failed' });
  return stage?.content ?? '';
}

const html = () => new Response('<html>', { headers: { 'content-type': 'text/html' } });

describe.each(['streamable_http', 'sse'] as const)('an unavailable toolset over %s', (protocol) => {
  it('fails in its own stage if the connection is refused', async () => {
    const url = `http://127.0.0.1:${await findFreePort()}/mcp`;
    expect(await getFailureReason({ url, protocol })).toBe(
      'The MCP server Tools could not be reached: the connection was refused.',
    );
  });

  it('fails in its own stage if its host name cannot be resolved', async () => {
    expect(await getFailureReason({ url: 'http://nowhere.invalid/mcp', protocol })).toMatch(
      /could not be reached: its host name/,
    );
  });

  it.each([
    'http://127.0.0.1:1/',
    'http://[::1]:1/',
    'http://169.254.169.254/',
    'http://2130706433:1/',
    'http://localhost:8080/',
  ])('fails in its own stage if its address is private: %s', async (url) => {
    expect(await getFailureReason({ url, protocol }, { security: {} })).toMatch(
      /^The MCP server Tools cannot be called: .*allowPrivateNetworks/,
    );
  });

  it.each([
    ['an HTML page', html],
    ['HTTP 404', () => new Response('', { status: 404 })],
    ['HTTP 500', () => new Response('stack trace', { status: 500 })],
  ])('fails in its own stage if it answers with %s', async (_what, serve) => {
    const { url } = await startWebServer(serve);
    expect(await getFailureReason({ url, protocol })).toMatch(
      /^The MCP server Tools (answered HTTP (404, perhaps .*|500)|does not speak MCP)\.$/,
    );
  });

  it('fails in its own stage if it redirects to another origin, which receives no request', async () => {
    const other = await startWebServer(html);
    const { url } = await startWebServer(() => Response.redirect(other.url, 307));
    const authorization = { type: 'bearer', token: 'canary-token' };
    expect(await getFailureReason({ url, protocol, authorization })).toMatch(/redirects to another address|HTTP 307/);
    expect(other.seen).toEqual([]);
  });
});

describe('an MCP server', () => {
  it('may redirect to another path of the same origin', async () => {
    const server = await startSessions([echo], {
      before: (request) => (request.url.endsWith('/mcp') ? undefined : Response.redirect(new URL('/mcp', request.url), 307)),
    });
    const { service, model } = await startApp({ url: server.url.replace('/mcp', '/old') }, [
      toolCallReply(['echo', { text: 'hi' }]),
      textReply('Done.'),
    ]);
    await service.chat('app', chatRequest);
    expect(getToolResults(model)).toEqual(['echo hi']);
  });

  it('receives no request for 10 seconds after it failed', async () => {
    const server = await startWebServer(() => new Response('', { status: 500 }));
    const { load, pass } = loadMcpTools(server.url);
    await expect(load()).rejects.toThrow('HTTP 500');
    pass(9_999);
    await expect(load()).rejects.toThrow('HTTP 500');
    expect(server.seen).toHaveLength(1);
    pass(1);
    await expect(load()).rejects.toThrow('HTTP 500');
    expect(server.seen).toHaveLength(2);
  });

  it.each(['server/discover', 'tools/list'])(
    'times out if it never answers %s, and later runs fail fast for 60 seconds',
    async (method) => {
      const server = await startStateless([echo], {
        before: instead(method, () => new Response(new ReadableStream(), { headers: { 'content-type': 'text/event-stream' } })),
      });
      const short = method === 'tools/list' ? { listMs: 400 } : { connectMs: 500 };
      const { load, pass } = loadMcpTools(server.url, short);
      const reason = method === 'tools/list' ? 'list its tools within 0.4 s' : 'answer within 0.5 s';
      const countRequests = () => server.asked(method).length;
      await expect(load()).rejects.toThrow(`The MCP server Tools did not ${reason}.`);
      const before = countRequests();
      await expect(load(undefined, 'another user')).rejects.toThrow(reason);
      pass(59_999);
      await expect(load(undefined, 'a third')).rejects.toThrow(reason);
      expect(countRequests()).toBe(before);
      pass(1);
      await expect(load(undefined, 'a fourth')).rejects.toThrow(reason);
      expect(countRequests()).toBeGreaterThan(before);
    },
  );

  it('fails in its own stage if it never answers, and other toolsets stay available', async () => {
    const mute = await startWebServer(() => new Promise<Response>(() => undefined));
    const server = await startStateless([echo]);
    const { service, model } = await startApp({ url: server.url }, [textReply('Done.')], {
      configuration: { tools: { connectMs: 2_000, listMs: 30_000 } },
      properties: {
        mcp_toolset: [
          ['Silent', mute.url],
          ['Tools', server.url],
        ].map(([name, url]) => ({ type: 'mcp', name, mcp_server_info: { url, protocol: 'streamable_http' } })),
      },
    });
    const { message } = getChoice(await service.chat('app', chatRequest));
    expect(getOfferedTools(model)).toEqual(['echo']);
    expect(message.custom_content.stages).toMatchObject([
      { name: 'Silent', status: 'failed', content: 'The MCP server Silent did not answer within 2 s.' },
    ]);
  });

  it('stops being loaded if the client disconnects', async () => {
    const server = await startStateless([echo], { before: instead('tools/list', () => new Response(new ReadableStream())) });
    const controller = new AbortController();
    const loading = loadMcpTools(server.url).load(controller.signal);
    await vi.waitFor(() => expect(server.asked('tools/list')).toHaveLength(1), 8_000);
    controller.abort(new Error('client disconnected'));
    await expect(loading).rejects.toThrow('client disconnected');
  });

  it('is reported in a failed stage if it lists only an invalid tool', async () => {
    const tools = [{ name: 'odd', inputSchema: { type: 'string' } }];
    const server = await startSessions([echo], {
      before: instead('tools/list', (id) => Response.json({ jsonrpc: '2.0', id, result: { tools } })),
    });
    expect(await getFailureReason({ url: server.url })).toBe(
      'The MCP server Tools describes these tools in an invalid form, so they were left out: odd.',
    );
  });

  it.each([
    ['no schema', { description: null, inputSchema: undefined }, true],
    ['nulls in its schema', { inputSchema: { type: null, properties: null, required: null, $schema: null } }, true],
    ['invalid optional fields', { annotations: 'x', outputSchema: { type: 'string' }, icons: 1, execution: null }, true],
    ['a schema of a type other than object', { inputSchema: { type: 'array' } }, false],
    ['properties that are not an object', { inputSchema: { type: 'object', properties: [] } }, false],
    ['no name', { name: 7 }, false],
  ])('may list a tool with %s next to valid tools, which stay available', async (_what, fields, isOffered) => {
    const tools = ['a', 'b', 'c', 'd'].map((name) => ({ name, inputSchema: { type: 'object' } }));
    const odd = { name: 'odd', inputSchema: { type: 'object' }, ...fields };
    for (const start of [startSessions, startStateless]) {
      const answer = (id: unknown) =>
        Response.json({
          jsonrpc: '2.0',
          id,
          result: { resultType: 'complete', ttlMs: 0, cacheScope: 'private', tools: [odd, ...tools] },
        });
      const server = await start([echo], { before: instead('tools/list', answer) });
      const { service, model } = await startApp({ url: server.url }, [textReply('Done.')]);
      const { message } = getChoice(await service.chat('app', chatRequest));
      expect(getOfferedTools(model)).toEqual(['a', 'b', 'c', 'd', ...(isOffered ? ['odd'] : [])]);
      const toolName = typeof odd.name === 'string' ? 'odd' : 'one without a name';
      const reason = `The MCP server Tools describes these tools in an invalid form, so they were left out: ${toolName}.`;
      expect(message.custom_content?.stages?.map(({ status, content }) => [status, content]) ?? []).toEqual(
        isOffered ? [] : [['failed', reason]],
      );
    }
  });
});

describe('an MCP tool call', () => {
  const run = async (tool: ServedTool, configuration: object = {}, answer?: (id: unknown) => Response) => {
    const server = await startStateless([tool], answer && { before: instead('tools/call', answer) });
    const { service, model } = await startApp({ url: server.url }, [toolCallReply([tool.name]), textReply('Done.')], {
      configuration,
    });
    const { message } = getChoice(await service.chat('app', chatRequest));
    expect(message.content).toBe('Done.');
    return { server, text: getToolResults(model)[0] ?? '', stage: message.custom_content.stages?.[0] };
  };

  it('is stopped after the tool timeout, and its request to the server is closed', async () => {
    const { server, text: result } = await run(
      { name: 'slow', run: () => new Promise(() => undefined) },
      { tools: { timeoutMs: 300 } },
    );
    expect(result).toMatch(/took longer than 0.3 s|did not answer in time/);
    await server.asked('tools/call')[0]?.closed;
  });

  it('continues past the timeout while progress arrives, and fails once progress stops', async () => {
    const working = (steps: number): ServedTool => ({
      name: 'works',
      async run(_args, { mcpReq }) {
        for (let progress = 1; progress <= steps; progress += 1) {
          await mcpReq.notify({
            method: 'notifications/progress',
            params: { progressToken: mcpReq._meta?.progressToken ?? '', progress },
          });
          await pause(250);
        }
        return steps > 3 ? text('done') : new Promise(() => undefined);
      },
    });
    const call = async (steps: number) => {
      const server = await startStateless([working(steps)]);
      const [tool] = await loadMcpTools(server.url, { timeoutMs: 1_500 }).load();
      return tool?.run(
        {},
        { signal: new AbortController().signal, report: () => Promise.resolve(), cite: () => 1, maxResultBytes: 10_000 },
      );
    };
    expect(await call(8)).toMatchObject({ text: 'done', failed: false });
    await expect(call(1)).rejects.toThrow('The MCP server Tools did not answer in time.');
  });

  it('truncates a long text result for the model and attaches the full result for the user', async () => {
    const long = 'word '.repeat(20_000);
    const { text: result, stage } = await run({ name: 'long', run: () => text(long) });
    expect(result.length).toBeLessThan(41_000);
    expect(result).toMatch(/\[Truncated: these are the first \d+ of 100000 bytes/);
    expect(stage?.attachments).toMatchObject([{ title: 'Full result', data: long }]);
  });

  it.each([
    ['JSON', 'application/json', (body: string) => body],
    ['events', 'text/event-stream', (body: string) => `id: 1\nretry: 1\ndata:\n\ndata: ${body}\n\n`],
  ])('fails without a retry if it is answered with more than 16 MiB of %s', async (_what, type, frame) => {
    const huge = text('x'.repeat(17 * 1024 * 1024));
    const answer = (id: unknown) =>
      new Response(frame(JSON.stringify({ jsonrpc: '2.0', id, result: huge })), { headers: { 'content-type': type } });
    const server = await startSessions([echo], { before: instead('tools/call', answer) });
    const { service, model } = await startApp({ url: server.url }, [toolCallReply(['echo']), textReply('Done.')]);
    await service.chat('app', chatRequest);
    expect(getToolResults(model)).toEqual(['The tool failed: The MCP server Tools answered with more than 16 MiB.']);
    await pause(1500);
    expect(server.seen.filter(({ headers }) => headers['last-event-id'] !== undefined)).toEqual([]);
  });

  it.each([
    [undefined, ['good', '[A part of a kind that is not known was left out.]', 'too']],
    [{ n: 1 }, ['good', 'too']],
  ])(
    'keeps the known parts of a result that has a part of an unknown type (structuredContent: %j)',
    async (structuredContent, expected) => {
      const content = [
        { type: 'text', text: 'good' },
        { type: 'hologram', x: 1 },
        { type: 'text', text: 'too' },
      ];
      const { text: answer } = await run({ name: 'tool', run: () => text('never') }, {}, (id) =>
        Response.json({ jsonrpc: '2.0', id, result: { resultType: 'complete', content, structuredContent } }),
      );
      expect(answer).toBe(expected.join('\n\n'));
    },
  );

  it.each([
    [
      'an end without an answer',
      () => new Response('', { headers: { 'content-type': 'text/event-stream' } }),
      'ended its response early',
    ],
    [
      'truncated JSON',
      () => new Response('{"jsonrpc":"2.0",', { headers: { 'content-type': 'application/json' } }),
      'does not speak MCP',
    ],
    [
      'an invalid result',
      (id: unknown) => Response.json({ jsonrpc: '2.0', id, result: { content: [{ type: 'text' }] } }),
      'does not speak MCP',
    ],
    [
      'a response to another request',
      () => Response.json({ jsonrpc: '2.0', id: 'other', result: text('x') }),
      'did not answer the request',
    ],
    ['an HTML page', html, 'does not speak MCP'],
    ['HTTP 502', () => new Response('secret stack', { status: 502 }), 'answered HTTP 502'],
  ])('fails without failing the run if it is answered with %s', async (_what, answer, reason) => {
    const server = await startSessions([echo], { before: instead('tools/call', answer) });
    const { service, model } = await startApp({ url: server.url }, [toolCallReply(['echo']), textReply('Done.')]);
    const { message } = getChoice(await service.chat('app', chatRequest));
    expect(message.content).toBe('Done.');
    expect(getToolResults(model)).toEqual([`The tool failed: The MCP server Tools ${reason}.`]);
  });
});
