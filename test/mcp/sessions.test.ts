import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { callerKey } from '#test/start-service.ts';
import { echo, instead, type ServedTool, type ServerOptions, startSessions, startStateless, text } from './servers.ts';
import {
  chatRequest,
  getChoice,
  getOfferedTools,
  getToolResults,
  loadMcpTools,
  startApp,
  textReply,
  toolCallReply,
} from './support.ts';

const callsEcho = toolCallReply(['echo', { text: 'hi' }]);
const otherUser = { 'api-key': 'other-key' };
const twoUsers = { keys: { [callerKey]: { project: 'one' }, 'other-key': { project: 'other' } } };

async function start(tools: ServedTool[] = [echo], options: ServerOptions = {}) {
  const server = await startSessions(tools, options);
  const app = await startApp({ url: server.url }, [callsEcho, textReply('Done.')], { configuration: twoUsers });
  const run = (headers?: Record<string, string>) => {
    app.model.script(callsEcho, textReply('Done.'));
    return app.service.chat('app', chatRequest, headers);
  };
  return { server, run, ...app };
}

function toError(id: unknown, code: number, message: string): object {
  return { jsonrpc: '2.0', id, error: { code, message } };
}

function json(value: object, status = 200): Response {
  const text = JSON.stringify(value);
  return new Response(text, { status, headers: { 'content-type': 'application/json', 'content-length': `${text.length}` } });
}

function event(value: object): Response {
  const text = `event: message\ndata: ${JSON.stringify(value)}\n\n`;
  return new Response(text, { headers: { 'content-type': 'text/event-stream' } });
}

/** Replaces the server's response to requests with a forgotten session ID. */
function reportForgotten(forgotten: ReadonlySet<string>, report: (id: unknown) => Response): ReturnType<typeof instead> {
  return async (request) => {
    if (request.method !== 'POST' || !forgotten.has(request.headers.get('mcp-session-id') ?? '')) return undefined;
    const { id } = (await request.clone().json()) as { id?: unknown };
    return report(id);
  };
}

describe('an MCP session', () => {
  it('is opened for the first call of a user and reused for later calls', async () => {
    const { server, run, model } = await start();
    await run();
    await run();
    expect(getToolResults(model, 3)).toEqual(['echo hi']);
    expect(server.asked('initialize')).toHaveLength(1);
    expect(server.asked('tools/list')).toHaveLength(1);
    const [one, two] = server.asked('tools/call').map(({ headers }) => headers);
    expect(one).toMatchObject({ 'mcp-session-id': [...server.sessions.open.keys()][0], 'mcp-protocol-version': '2025-11-25' });
    expect(two?.['mcp-session-id']).toBe(one?.['mcp-session-id']);
  });

  it('is not shared between users', async () => {
    const { server, run } = await start();
    await run();
    await run(otherUser);
    expect(new Set(server.asked('tools/call').map(({ headers }) => headers['mcp-session-id'])).size).toBe(2);
    expect(server.sessions.open.size).toBe(2);
  });

  it('shares the result of the revision check between users', async () => {
    const { server, run } = await start();
    await run();
    await run(otherUser);
    expect(server.asked('server/discover')).toHaveLength(1);
  });

  it('is reopened if the server forgot it, and the call is repeated in the new session', async () => {
    const { server, run, model } = await start();
    await run();
    server.sessions.forget();
    await run();
    expect(getToolResults(model, 3)).toEqual(['echo hi']);
    expect(server.asked('initialize')).toHaveLength(2);
    expect(server.asked('tools/call')).toHaveLength(3);
  });

  it.each<[string, (id: unknown) => Response]>([
    ['HTTP 400', () => json(toError(null, -32000, 'Bad Request: No valid session ID provided'), 400)],
    ['HTTP 401 with a text', () => new Response('Unauthorized: Session not found', { status: 401 })],
    ['HTTP 403 with a text', () => new Response('Unknown session', { status: 403 })],
    ['HTTP 409', () => json(toError(null, -32000, 'Mcp-Session-Id is unknown'), 409)],
    ['HTTP 410', () => new Response('', { status: 410 })],
    ['HTTP 500 with a text', () => new Response('Session 7 has expired', { status: 500 })],
    ['HTTP 200 and an error', (id) => json(toError(id, -32001, 'Session not found'))],
    ['HTTP 200 and an error whose ID is null', () => json(toError(null, -32600, 'Invalid session ID'))],
    ['HTTP 200 and an error without an ID', () => json(toError(undefined, -32600, 'Session terminated'))],
    ['an error in a stream', (id) => event(toError(id, -32000, 'No transport found for sessionId 7'))],
    ['an error of a server that was restarted', (id) => json(toError(id, -32002, 'Server not initialized'))],
  ])('is reopened if the server reports with %s that the session is unknown', async (_what, report) => {
    const forgotten = new Set<string>();
    const { server, run, model } = await start([echo], { before: reportForgotten(forgotten, report) });
    await run();
    for (const id of server.sessions.open.keys()) forgotten.add(id);
    await run();
    expect(getToolResults(model, 3)).toEqual(['echo hi']);
    expect(server.asked('initialize')).toHaveLength(2);
    expect(server.asked('tools/call')).toHaveLength(3);
  });

  it.each<[string, (id: unknown) => Response, string]>([
    [
      'an error of the tool',
      (id) => json(toError(id, -32602, 'The argument session is invalid')),
      'The argument session is invalid',
    ],
    [
      'an error that does not name a session',
      (id) => json(toError(id, -32000, 'The order was not found')),
      'The order was not found',
    ],
    ['an error with the code 404', (id) => json(toError(id, 404, 'The order was not found')), 'The order was not found'],
    ['an error with the code 400', (id) => json(toError(id, 400, 'The order is closed')), 'The order is closed'],
    [
      'a challenge for credentials',
      () =>
        new Response('The session has expired', { status: 401, headers: { 'www-authenticate': 'Bearer error="invalid_token"' } }),
      'requires credentials, but no credentials are configured (HTTP 401)',
    ],
    ['HTTP 502 without a reason', () => new Response('Bad gateway', { status: 502 }), 'answered HTTP 502'],
  ])('is not opened again after %s', async (_what, answer, expected) => {
    const { server, run, model } = await start([echo], { before: instead('tools/call', answer) });
    await run();
    expect(getToolResults(model)[0]).toContain(expected);
    expect(server.asked('tools/call')).toHaveLength(1);
  });

  it('is not opened a third time if the server also forgets the second session', async () => {
    const forgetful = { before: instead('tools/call', () => new Response('', { status: 404 })) };
    const { server, run, model } = await start([echo], forgetful);
    await run();
    expect(getToolResults(model)[0]).toContain('answered HTTP 404');
    expect(server.asked('tools/call')).toHaveLength(2);
  });

  it('is closed if the server forgot it', async () => {
    const { server, run } = await start([echo]);
    await run();
    for (const _ of [1, 2, 3]) {
      server.sessions.forget();
      await run();
    }
    const streams = (): typeof server.seen => server.seen.filter(({ method }) => method === 'GET');
    await vi.waitFor(() => expect(streams()).toHaveLength(4), 8_000);
    let closedCount = 0;
    for (const { closed } of streams())
      void closed.then(() => {
        closedCount += 1;
      });
    await vi.waitFor(() => expect(closedCount).toBe(3), 8_000);
  });

  it('reconnects after at most 30 seconds if the server requests a delay that exceeds the maximum of a timer', async () => {
    const called = Promise.withResolvers<void>();
    const endStream = async ({ method }: Request): Promise<Response | undefined> => {
      if (method !== 'GET') return undefined;
      await called.promise;
      return new Response('retry: 99999999999\nid: 1\n\n', { headers: { 'content-type': 'text/event-stream' } });
    };
    const waits: ServedTool = {
      name: 'echo',
      run() {
        called.resolve();
        return pause(500, text('late'));
      },
    };
    const { server, run } = await start([waits], { before: endStream });
    await run();
    expect(server.seen.filter(({ method }) => method === 'GET').length).toBeLessThan(5);
  });

  it('is deleted at the server when the service stops', async () => {
    const { server, run, service } = await start();
    await run();
    await service.close();
    expect(server.sessions.open.size).toBe(0);
    expect(server.seen.at(-1)?.method).toBe('DELETE');
  });

  it('is closed 5 minutes after its last use', async () => {
    const server = await startSessions([echo]);
    const { tools, load, pass } = loadMcpTools(server.url);
    const [tool] = await load();
    await tool?.run(
      { text: 'hi' },
      { signal: new AbortController().signal, report: () => Promise.resolve(), cite: () => 1, maxResultBytes: 10_000 },
    );
    pass(299_999);
    await pause(20);
    expect(server.sessions.open.size).toBe(1);
    pass(1);
    await vi.waitFor(() => expect(server.sessions.open.size).toBe(0), 8_000);
    await tools.close();
  });

  it.each([404, 405, 406])('works without an event stream if the server answers GET with %i', async (status) => {
    const { run, model } = await start([echo], {
      before: ({ method }) => (method === 'GET' ? new Response('no', { status }) : undefined),
    });
    await run();
    expect(getToolResults(model)).toEqual(['echo hi']);
  });

  it('sends a cancellation notification if the client disconnects during a tool call', async () => {
    const cancelled = Promise.withResolvers<void>();
    const waits: ServedTool = {
      name: 'echo',
      run: (_args, { mcpReq }) => new Promise(() => mcpReq.signal.addEventListener('abort', () => cancelled.resolve())),
    };
    const { server, service } = await start([waits]);
    const { disconnect } = service.chatAndDisconnect('app', chatRequest);
    await vi.waitFor(() => expect(server.asked('tools/call')).toHaveLength(1), 8_000);
    disconnect();
    await cancelled.promise;
    expect(server.asked('notifications/cancelled')).toHaveLength(1);
  });
});

describe('the tool list of an MCP server', () => {
  const createNamedTool = (name: string): ServedTool => ({ name, run: () => text(name) });

  it('is read to its last page and offered in order of name', async () => {
    const names = ['e', 'b', 'echo', 'a', 'd'];
    const { run, model } = await start(names.map(createNamedTool), { pageSize: 2 });
    await run();
    expect(getOfferedTools(model)).toEqual(['a', 'b', 'd', 'e', 'echo']);
  });

  it('fails the toolset if it has no last page', async () => {
    let page = 0;
    const endless = instead('tools/list', (id) => {
      page += 1;
      return Response.json({ jsonrpc: '2.0', id, result: { tools: [], nextCursor: `${page}` } });
    });
    const { run } = await start([echo], { before: endless });
    const { message } = getChoice(await run());
    expect(message.custom_content.stages?.[0]).toMatchObject({
      name: 'Tools',
      status: 'failed',
      content: expect.stringContaining('returns too many pages of a list'),
    });
    expect(page).toBeLessThan(100);
  });

  it('is read again after the server reports a change', async () => {
    const tools = [echo];
    const { server, run, model } = await start(tools);
    await run();
    await vi.waitFor(() => expect(server.seen.some(({ method }) => method === 'GET')).toBe(true), 8_000);
    tools.push(createNamedTool('more'));
    for (const each of server.sessions.open.values()) await each.sendToolListChanged();
    await vi.waitFor(async () => {
      await run();
      expect(getOfferedTools(model, model.requests.length - 2)).toEqual(['echo', 'more']);
    });
    expect(server.asked('tools/list')).toHaveLength(2);
  });

  it('is not read from the cache of an earlier session after the server reported a change', async () => {
    const tools = [echo];
    const server = await startSessions(tools, { ttlMs: 3_600_000 });
    const { load, pass } = loadMcpTools(server.url);
    const loadNames = async () => (await load()).map(({ name }) => name);
    await loadNames();
    await vi.waitFor(() => expect(server.seen.some(({ method }) => method === 'GET')).toBe(true), 8_000);
    tools.push(createNamedTool('more'));
    for (const each of server.sessions.open.values()) await each.sendToolListChanged();
    await vi.waitFor(async () => expect(await loadNames()).toEqual(['echo', 'more']));
    pass(300_000);
    await vi.waitFor(() => expect(server.sessions.open.size).toBe(0));
    expect(await loadNames()).toEqual(['echo', 'more']);
  });

  it.each([
    ['once if its time to live allows caching', 60_000, 1],
    ['for each run if its time to live is 0', 0, 2],
  ])('is read %s', async (_what, ttlMs, times) => {
    const server = await startStateless([echo], { ttlMs });
    const { service, model } = await startApp({ url: server.url }, [callsEcho, textReply('Done.')]);
    await service.chat('app', chatRequest);
    model.script(callsEcho, textReply('Done.'));
    await service.chat('app', chatRequest);
    expect(server.asked('tools/list')).toHaveLength(times);
  });

  it('is read once for concurrent requests', async () => {
    const { server, service, model } = await start();
    model.script(textReply('Done.'));
    await Promise.all(Array.from({ length: 5 }, () => service.chat('app', chatRequest)));
    expect([server.asked('initialize').length, server.asked('tools/list').length]).toEqual([1, 1]);
  });

  it('contains only allowed tools, and calls of other tools fail', async () => {
    const server = await startSessions([echo, createNamedTool('other')]);
    const script = [toolCallReply(['other'], ['echo', { text: 'hi' }]), textReply('Done.')];
    const { service, model } = await startApp({ url: server.url, allowed_tools: ['echo', 'absent'] }, script);
    await service.chat('app', chatRequest);
    expect(getOfferedTools(model)).toEqual(['echo']);
    expect(getToolResults(model)).toEqual(['There is no tool named other.', 'echo hi']);
    expect(server.asked('tools/call')).toHaveLength(1);
  });

  it('fails the toolset if it has too many tools, unless the allowed tools reduce it', async () => {
    const server = await startSessions(Array.from({ length: 600 }, (_, nth) => createNamedTool(`tool${nth}`)));
    const { service } = await startApp({ url: server.url }, [textReply('Done.')]);
    const { message } = getChoice(await service.chat('app', chatRequest));
    expect(message.custom_content.stages?.[0]?.content).toContain('600 tools');
    const reduced = await startApp({ url: server.url, allowed_tools: ['tool599'] }, [textReply('Done.')]);
    await reduced.service.chat('app', chatRequest);
    expect(getOfferedTools(reduced.model)).toEqual(['tool599']);
  });
});
