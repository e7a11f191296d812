import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { callerKey } from '#test/start-service.ts';
import { echo, instead, type ServedTool, startSessions, startStateless, text } from './servers.ts';
import {
  chatRequest,
  getChoice,
  getOfferedTools,
  getToolResults,
  loadMcpTools,
  startApp,
  type ToolCalling,
  textReply,
  toolCallReply,
} from './support.ts';

async function start(tool: ServedTool, ...calls: readonly ToolCalling[]) {
  const server = await startStateless([tool]);
  const app = await startApp({ url: server.url }, [
    toolCallReply(...(calls.length > 0 ? calls : [[tool.name] as const])),
    textReply('Done.'),
  ]);
  return { server, ...app };
}

describe('an MCP server of the 2026-07-28 revision', () => {
  it('receives requests without a session, each with version, method, and client details', async () => {
    const { server, service, model } = await start(echo, ['echo', { text: 'hi' }]);
    await service.chat('app', chatRequest);
    expect(getToolResults(model)).toEqual(['echo hi']);
    expect(server.seen.map(({ method, message }) => `${method} ${message.method}`)).toEqual([
      'POST server/discover',
      'POST tools/list',
      'POST tools/call',
    ]);
    for (const { headers, message } of server.seen) {
      expect(headers).toMatchObject({ 'mcp-protocol-version': '2026-07-28', 'mcp-method': message.method });
      expect(headers).not.toHaveProperty('mcp-session-id');
    }
    expect(server.seen[2]?.headers['mcp-name']).toBe('echo');
    expect(server.seen[2]?.message.params?._meta).toMatchObject({
      'io.modelcontextprotocol/clientInfo': { name: 'parley' },
      'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
    });
  });

  it('receives one revision check for all users but lists its tools per user', async () => {
    const server = await startStateless([echo]);
    const configuration = { keys: { [callerKey]: { project: 'one' }, 'other-key': { project: 'other' } } };
    const { service } = await startApp({ url: server.url }, [textReply('Done.')], { configuration });
    await service.chat('app', chatRequest);
    await service.chat('app', chatRequest, { 'api-key': 'other-key' });
    expect(server.asked('server/discover')).toHaveLength(1);
    expect(server.asked('tools/list')).toHaveLength(2);
  });

  it('receives arguments with x-mcp-header also as header fields', async () => {
    const inputSchema = { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } };
    const { server, service } = await start({ ...echo, inputSchema }, ['echo', { region: 'eu', text: 'hi' }]);
    await service.chat('app', chatRequest);
    expect(server.asked('tools/call')[0]?.headers['mcp-param-region']).toBe('eu');
  });

  it('is called over a session after it switches to an older revision', async () => {
    const older = await startSessions([echo]);
    let isOlder = false;
    const relay = ({ method, headers, body }: Request) =>
      fetch(older.url, { method, headers, body, duplex: 'half' } as RequestInit);
    const server = await startStateless([echo], { before: (request) => (isOlder ? relay(request) : undefined) });
    const { load, pass } = loadMcpTools(server.url);
    expect(await load()).toHaveLength(1);
    isOlder = true;
    await expect(load()).rejects.toThrow('The MCP server Tools answered HTTP 400.');
    pass(10_000);
    expect(await load()).toHaveLength(1);
    expect(older.asked('initialize')).toHaveLength(1);
  });

  it('reports its progress in the stage content', async () => {
    const slow: ServedTool = {
      name: 'slow',
      async run(_args, { mcpReq }) {
        const progressToken = mcpReq._meta?.progressToken ?? '';
        const params = { progressToken, progress: 1, total: 2, message: 'halfway' };
        await mcpReq.notify({ method: 'notifications/progress', params });
        await pause(20);
        return text('there');
      },
    };
    const { service } = await start(slow);
    const { message } = getChoice(await service.chat('app', chatRequest));
    expect(message.custom_content.stages?.[0]?.content).toMatch(/1 of 2: halfway[\s\S]*there/);
  });

  it('learns of a client disconnect when its stream closes', async () => {
    const waits: ServedTool = { name: 'waits', run: () => new Promise(() => undefined) };
    const { server, service } = await start(waits);
    const { disconnect } = service.chatAndDisconnect('app', chatRequest);
    await vi.waitFor(() => expect(server.asked('tools/call')).toHaveLength(1), 8_000);
    disconnect();
    await server.asked('tools/call')[0]?.closed;
    expect(server.asked('notifications/cancelled')).toEqual([]);
  });

  it('passes the text of a failed tool to the model', async () => {
    const { service, model } = await start({ name: 'fails', run: () => ({ ...text('out of paper'), isError: true }) });
    const { message } = getChoice(await service.chat('app', chatRequest));
    expect(getToolResults(model)).toEqual(['out of paper']);
    expect(message.custom_content.stages).toMatchObject([{ name: 'fails', status: 'failed' }]);
  });

  it('passes the message of a JSON-RPC error to the model', async () => {
    const error = { code: -32602, message: 'no such city' };
    const server = await startStateless([echo], {
      before: instead('tools/call', (id) => Response.json({ jsonrpc: '2.0', id, error })),
    });
    const { service, model } = await startApp({ url: server.url }, [toolCallReply(['echo']), textReply('Done.')]);
    await service.chat('app', chatRequest);
    expect(getToolResults(model)).toEqual(['no such city']);
  });

  it('may return a result that violates its own output schema', async () => {
    const outputSchema = { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } }, required: ['b'] };
    const tool = { name: 'tool', outputSchema, run: () => ({ structuredContent: { a: `${'a'.repeat(40)}!` } }) };
    const { service, model } = await start(tool);
    await service.chat('app', chatRequest);
    expect(getToolResults(model)).toEqual([`{"a":"${'a'.repeat(40)}!"}`]);
  });

  it('may return every content type', async () => {
    const content = [
      { type: 'text' as const, text: 'Look:' },
      { type: 'audio' as const, data: 'UklGRg==', mimeType: 'audio/wav' },
      { type: 'resource' as const, resource: { uri: 'https://host/a.md', text: '# A', mimeType: 'text/markdown' } },
      { type: 'resource' as const, resource: { uri: 'file:///b.bin', blob: 'AAEC' } },
      { type: 'resource_link' as const, uri: 'https://host/c', name: 'c', title: 'See', mimeType: 'text/html' },
    ];
    const { service, model } = await start({ name: 'kinds', run: () => ({ content }) });
    const { message } = getChoice(await service.chat('app', chatRequest));
    expect(getToolResults(model)[0]?.split('\n\n')).toEqual([
      'Look:',
      '[Audio (audio/wav): the user was shown it.]',
      '# A',
      '[Resource file:///b.bin (application/octet-stream): the user was shown it.]',
      '[Resource See: https://host/c (text/html)]',
    ]);
    expect(message.custom_content.attachments).toEqual([
      { index: 0, type: 'audio/wav', title: 'Audio', data: 'UklGRg==' },
      {
        index: 1,
        type: 'text/markdown',
        title: 'https://host/a.md',
        reference_url: 'https://host/a.md',
        reference_type: 'text/markdown',
        data: '# A',
      },
      {
        index: 2,
        type: 'application/octet-stream',
        title: 'file:///b.bin',
        reference_url: 'file:///b.bin',
        reference_type: 'application/octet-stream',
        data: 'AAEC',
      },
      {
        index: 3,
        type: 'text/markdown',
        title: 'See',
        data: 'See',
        reference_url: 'https://host/c',
        reference_type: 'text/html',
      },
    ]);
    expect(getOfferedTools(model)).toEqual(['kinds']);
  });
});
