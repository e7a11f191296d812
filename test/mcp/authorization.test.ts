import { describe, expect, it } from 'vitest';
import { echo, instead, type ServedTool, startSessions, startStateless, text } from './servers.ts';
import {
  chatRequest,
  getChoice,
  getToolResults,
  startApp,
  startEverything,
  startWebServer,
  type Toolset,
  textReply,
  toolCallReply,
} from './support.ts';

const callsEcho = toolCallReply(['echo', { text: 'hi' }]);

/** Starts a server that issues tokens, numbered from 1. */
async function startTokenServer() {
  let issued = 0;
  const server = await startWebServer(() => {
    issued += 1;
    return Response.json({ access_token: `token-${issued}`, token_type: 'Bearer', expires_in: 3600 });
  });
  const authorization = { type: 'client_id_secret', client_id: 'id', client_secret: 'canary-secret', token_url: server.url };
  return { ...server, authorization };
}

const kinds = [
  ['an API key', { type: 'api_key', key: 'canary-key', name: 'X-Tool-Key' }, { 'x-tool-key': 'canary-key' }],
  [
    'a user name and password',
    { type: 'basic', username: 'me', password: 'canary' },
    { authorization: `Basic ${btoa('me:canary')}` },
  ],
  ['a bearer token', { type: 'bearer', token: 'canary-token' }, { authorization: 'Bearer canary-token' }],
] as const;

describe.each([
  ['with sessions', startSessions],
  ['without sessions', startStateless],
] as const)('an MCP server %s', (_which, start) => {
  it.each(kinds)('receives %s with every request', async (_what, authorization, expected) => {
    const server = await start([echo]);
    const { service } = await startApp({ url: server.url, authorization }, [callsEcho, textReply('Done.')]);
    await service.chat('app', chatRequest);
    await service.close();
    expect(server.seen.length).toBeGreaterThan(2);
    for (const { headers } of server.seen) expect(headers).toMatchObject(expected);
  });

  it('receives a new token once if it rejects the first token', async () => {
    const tokens = await startTokenServer();
    const server = await start([echo], {
      before: ({ headers }) =>
        headers.get('authorization') === 'Bearer token-2' ? undefined : new Response('', { status: 401 }),
    });
    const { service, model } = await startApp({ url: server.url, authorization: tokens.authorization }, [
      callsEcho,
      textReply('Done.'),
    ]);
    await service.chat('app', chatRequest);
    expect(getToolResults(model)).toEqual(['echo hi']);
    expect(tokens.seen).toHaveLength(2);
    expect(server.seen.filter(({ headers }) => headers.authorization === 'Bearer token-1')).toHaveLength(1);
  });
});

async function getFailureReason(toolset: Toolset): Promise<string | undefined> {
  const { service } = await startApp(toolset, [textReply('Done.')]);
  const { message } = getChoice(await service.chat('app', chatRequest));
  expect(message).toMatchObject({ content: 'Done.', custom_content: { stages: [{ name: 'Tools', status: 'failed' }] } });
  return message.custom_content.stages?.[0]?.content;
}

describe.each(['streamable_http', 'sse'] as const)('rejected MCP credentials over %s', (protocol) => {
  const refusing = (status: number) => startWebServer(() => new Response('canary-token is not known', { status }));

  it('are reported as the reason in a failed stage', async () => {
    const { url } = await refusing(401);
    const authorization = { type: 'bearer', token: 'canary-token' };
    expect(await getFailureReason({ url, protocol, authorization })).toBe(
      'The MCP server Tools refused its configured credentials (HTTP 401).',
    );
  });

  it('are reported as missing if the toolset has none', async () => {
    const { url } = await refusing(401);
    expect(await getFailureReason({ url, protocol })).toBe(
      'The MCP server Tools requires credentials, but no credentials are configured (HTTP 401).',
    );
  });

  it('are distinguished from denied access', async () => {
    const { url } = await refusing(403);
    expect(await getFailureReason({ url, protocol })).toBe('The MCP server Tools denied access (HTTP 403).');
  });

  it('are requested again only once', async () => {
    const { url, seen } = await refusing(401);
    const tokens = await startTokenServer();
    expect(await getFailureReason({ url, protocol, authorization: tokens.authorization })).toContain(
      'refused its configured credentials',
    );
    expect([seen.length, tokens.seen.length]).toEqual([2, 2]);
  });

  it('prevent all requests to the server if the token URL rejects them', async () => {
    const { url, seen } = await refusing(401);
    const tokens = await startWebServer(() => Response.json({ error: 'invalid_client', hint: 'canary' }, { status: 401 }));
    const authorization = { type: 'client_id_secret', client_id: 'id', client_secret: 'canary', token_url: tokens.url };
    expect(await getFailureReason({ url, protocol, authorization })).toBe(
      'The MCP server Tools could not be called: cannot get a token: the token address answered 401 invalid_client.',
    );
    expect(seen).toEqual([]);
  });
});

describe('MCP credentials', () => {
  it.each(kinds)('are masked if a server echoes %s', async (_what, authorization) => {
    const formatHeaders = (headers: Headers | undefined): string => JSON.stringify(Object.fromEntries(headers ?? []));
    const tools: ServedTool[] = [
      { name: 'says', run: (_args, { http }) => text(formatHeaders(http?.req?.headers)) },
      { name: 'structures', run: (_args, { http }) => ({ structuredContent: { told: formatHeaders(http?.req?.headers) } }) },
      { name: 'fails', run: (_args, { http }) => ({ ...text(formatHeaders(http?.req?.headers)), isError: true }) },
      {
        name: 'throws',
        run: (_args, { http }) => {
          throw new Error(formatHeaders(http?.req?.headers));
        },
      },
      {
        name: 'attaches',
        run: (_args, { http }) => ({
          content: [{ type: 'resource', resource: { uri: 'a:b', text: formatHeaders(http?.req?.headers) } }],
        }),
      },
    ];
    const server = await startStateless(tools);
    const calls = toolCallReply(...tools.map(({ name }) => [name] as const));
    const { service, model } = await startApp({ url: server.url, authorization }, [calls, textReply('Done.')]);
    const { json } = await service.chat('app', chatRequest);
    expect(getToolResults(model)).toHaveLength(tools.length);
    expect(getToolResults(model)[0]).toContain('***');
    const output = [JSON.stringify(json), ...model.requests.map((request) => request.text)].join('\n');
    expect(output).not.toMatch(/canary/);
    expect(output).not.toContain(btoa('me:canary'));
  });

  it.each([
    ['initialize', '-'],
    ['tools/list', '-'],
    // The error text is truncated within the credential.
    ['tools/list', '-'.repeat(990)],
  ])('are masked in an error for %s', async (method, start) => {
    const { url } = await startSessions([echo], {
      before: instead(method, (id) =>
        Response.json({ jsonrpc: '2.0', id, error: { code: -32_602, message: `${start} canary-token is not known` } }),
      ),
    });
    const reason = await getFailureReason({ url, authorization: { type: 'bearer', token: 'canary-token' } });
    expect(reason).toContain('answered with an error: - ***'.replace('-', start));
    expect(reason).not.toContain('canary');
  });

  it('are masked before progress messages and descriptions are truncated', async () => {
    const echoAt = (chars: number): string => `${'-'.repeat(chars - 3)}canary-token`;
    const tool: ServedTool = {
      name: 'works',
      description: echoAt(4000),
      async run(_args, { mcpReq }) {
        const params = { progressToken: mcpReq._meta?.progressToken ?? 0, progress: 1, message: echoAt(200) };
        await mcpReq.notify({ method: 'notifications/progress', params });
        return text('done');
      },
    };
    const { url } = await startSessions([tool]);
    const authorization = { type: 'bearer', token: 'canary-token' };
    const { service, model } = await startApp({ url, authorization }, [toolCallReply(['works']), textReply('Done.')]);
    const { json } = await service.chat('app', chatRequest);
    const output = [JSON.stringify(json), ...model.requests.map((request) => request.text)].join('\n');
    expect(output).toContain('1: -');
    expect(output).not.toContain('-can');
  });

  it('separate the sessions of their toolsets', async () => {
    const server = await startSessions([echo]);
    const toolset = (name: string, token: string) => ({
      type: 'mcp',
      name,
      mcp_server_info: { url: server.url, protocol: 'streamable_http', authorization: { type: 'bearer', token } },
    });
    const { service } = await startApp({ url: server.url }, [textReply('Done.')], {
      properties: { mcp_toolset: [toolset('Tools', 'token-a'), toolset('Tools', 'token-ab')] },
    });
    await service.chat('app', chatRequest);
    const bySession = Map.groupBy(server.seen, ({ headers }) => headers['mcp-session-id']);
    bySession.delete(undefined);
    expect(bySession.size).toBe(2);
    for (const [, requests] of bySession) expect(new Set(requests.map(({ headers }) => headers.authorization)).size).toBe(1);
    expect(server.asked('server/discover')).toHaveLength(2);
  });

  it('are sent to an SSE server with its stream and with its messages', async () => {
    const behind = await startEverything('sse');
    const front = await startWebServer(async (request) => {
      if (request.headers.get('x-tool-key') !== 'canary-key') return new Response('', { status: 401 });
      const url = new URL(new URL(request.url).pathname + new URL(request.url).search, behind.url);
      return fetch(url, { method: request.method, headers: request.headers, body: request.body, duplex: 'half' } as RequestInit);
    });
    const authorization = { type: 'api_key', key: 'canary-key', name: 'X-Tool-Key' };
    const url = front.url.replace('/mcp', '/sse');
    const { service, model } = await startApp({ url, protocol: 'sse', authorization }, [
      toolCallReply(['echo', { message: 'hi' }]),
      textReply('Done.'),
    ]);
    await service.chat('app', chatRequest);
    expect(getToolResults(model)).toEqual(['Echo: hi']);
  });
});
