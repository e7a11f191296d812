import { describe, expect, it } from 'vitest';
import { echo, type ServedTool, startSessions, startStateless, text } from './servers.ts';
import {
  ask,
  callsTools,
  choiceOf,
  says,
  startApp,
  startEverything,
  startWebServer,
  type Toolset,
  toolTexts,
} from './support.ts';

const callsEcho = callsTools(['echo', { text: 'hi' }]);

/** Gives tokens, counted from 1. */
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
  ['a key', { type: 'api_key', key: 'canary-key', name: 'X-Tool-Key' }, { 'x-tool-key': 'canary-key' }],
  ['a name and password', { type: 'basic', username: 'me', password: 'canary' }, { authorization: `Basic ${btoa('me:canary')}` }],
  ['a token', { type: 'bearer', token: 'canary-token' }, { authorization: 'Bearer canary-token' }],
] as const;

describe.each([
  ['with sessions', startSessions],
  ['without sessions', startStateless],
] as const)('a server %s', (_which, start) => {
  it.each(kinds)('is sent %s with every request', async (_what, authorization, expected) => {
    const server = await start([echo]);
    const { service } = await startApp({ url: server.url, authorization }, [callsEcho, says('Done.')]);
    await service.chat('app', ask);
    await service.close();
    expect(server.seen.length).toBeGreaterThan(2);
    for (const { headers } of server.seen) expect(headers).toMatchObject(expected);
  });

  it('is sent a fresh token once, where it does not take the one it was sent', async () => {
    const tokens = await startTokenServer();
    const server = await start([echo], {
      before: ({ headers }) =>
        headers.get('authorization') === 'Bearer token-2' ? undefined : new Response('', { status: 401 }),
    });
    const { service, model } = await startApp({ url: server.url, authorization: tokens.authorization }, [
      callsEcho,
      says('Done.'),
    ]);
    await service.chat('app', ask);
    expect(toolTexts(model)).toEqual(['echo hi']);
    expect(tokens.seen).toHaveLength(2);
    expect(server.seen.filter(({ headers }) => headers.authorization === 'Bearer token-1')).toHaveLength(1);
  });
});

async function reasonOf(toolset: Toolset): Promise<string | undefined> {
  const { service } = await startApp(toolset, [says('Done.')]);
  const { message } = choiceOf(await service.chat('app', ask));
  expect(message).toMatchObject({ content: 'Done.', custom_content: { stages: [{ name: 'Tools', status: 'failed' }] } });
  return message.custom_content.stages?.[0]?.content;
}

describe.each(['streamable_http', 'sse'] as const)('credentials that are refused over %s', (protocol) => {
  const refusing = (status: number) => startWebServer(() => new Response('canary-token is not known', { status }));

  it('are named as the reason', async () => {
    const { url } = await refusing(401);
    const authorization = { type: 'bearer', token: 'canary-token' };
    expect(await reasonOf({ url, protocol, authorization })).toBe(
      'The MCP server Tools refused its configured credentials (HTTP 401).',
    );
  });

  it('are named as the reason where there are none', async () => {
    const { url } = await refusing(401);
    expect(await reasonOf({ url, protocol })).toBe(
      'The MCP server Tools asks for credentials, and none are configured (HTTP 401).',
    );
  });

  it('are told from an access that is denied', async () => {
    const { url } = await refusing(403);
    expect(await reasonOf({ url, protocol })).toBe('The MCP server Tools denied access (HTTP 403).');
  });

  it('are asked for anew only once', async () => {
    const { url, seen } = await refusing(401);
    const tokens = await startTokenServer();
    expect(await reasonOf({ url, protocol, authorization: tokens.authorization })).toContain(
      'refused its configured credentials',
    );
    expect([seen.length, tokens.seen.length]).toEqual([2, 2]);
  });

  it('are not to be had where the token address gives none', async () => {
    const { url, seen } = await refusing(401);
    const tokens = await startWebServer(() => Response.json({ error: 'invalid_client', hint: 'canary' }, { status: 401 }));
    const authorization = { type: 'client_id_secret', client_id: 'id', client_secret: 'canary', token_url: tokens.url };
    expect(await reasonOf({ url, protocol, authorization })).toBe(
      'The MCP server Tools could not be called: no token was given: the token address answered 401 invalid_client.',
    );
    expect(seen).toEqual([]);
  });
});

describe('credentials', () => {
  it.each(kinds)('of the kind %s that a server echoes are shown to nobody', async (_what, authorization) => {
    const tell = (headers: Headers | undefined): string => JSON.stringify(Object.fromEntries(headers ?? []));
    const tools: ServedTool[] = [
      { name: 'says', run: (_args, { http }) => text(tell(http?.req?.headers)) },
      { name: 'structures', run: (_args, { http }) => ({ structuredContent: { told: tell(http?.req?.headers) } }) },
      { name: 'fails', run: (_args, { http }) => ({ ...text(tell(http?.req?.headers)), isError: true }) },
      {
        name: 'throws',
        run: (_args, { http }) => {
          throw new Error(tell(http?.req?.headers));
        },
      },
      {
        name: 'attaches',
        run: (_args, { http }) => ({ content: [{ type: 'resource', resource: { uri: 'a:b', text: tell(http?.req?.headers) } }] }),
      },
    ];
    const server = await startStateless(tools);
    const calls = callsTools(...tools.map(({ name }) => [name] as const));
    const { service, model } = await startApp({ url: server.url, authorization }, [calls, says('Done.')]);
    const { json } = await service.chat('app', ask);
    expect(toolTexts(model)).toHaveLength(tools.length);
    expect(toolTexts(model)[0]).toContain('***');
    const written = [JSON.stringify(json), ...model.requests.map((request) => request.text)].join('\n');
    expect(written).not.toMatch(/canary/);
    expect(written).not.toContain(btoa('me:canary'));
  });

  it('keep the sessions of their toolsets apart', async () => {
    const server = await startSessions([echo]);
    const toolset = (name: string, token: string) => ({
      type: 'mcp',
      name,
      mcp_server_info: { url: server.url, protocol: 'streamable_http', authorization: { type: 'bearer', token } },
    });
    const { service } = await startApp({ url: server.url }, [says('Done.')], {
      properties: { mcp_toolset: [toolset('Tools', 'token-a'), toolset('Tools', 'token-ab')] },
    });
    await service.chat('app', ask);
    const bySession = Map.groupBy(server.seen, ({ headers }) => headers['mcp-session-id']);
    bySession.delete(undefined);
    expect(bySession.size).toBe(2);
    for (const [, requests] of bySession) expect(new Set(requests.map(({ headers }) => headers.authorization)).size).toBe(1);
    expect(server.asked('server/discover')).toHaveLength(2);
  });

  it('reach a server of the older transport, on its stream and beside it', async () => {
    const behind = await startEverything('sse');
    const front = await startWebServer(async (request) => {
      if (request.headers.get('x-tool-key') !== 'canary-key') return new Response('', { status: 401 });
      const url = new URL(new URL(request.url).pathname + new URL(request.url).search, behind.url);
      return fetch(url, { method: request.method, headers: request.headers, body: request.body, duplex: 'half' } as RequestInit);
    });
    const authorization = { type: 'api_key', key: 'canary-key', name: 'X-Tool-Key' };
    const url = front.url.replace('/mcp', '/sse');
    const { service, model } = await startApp({ url, protocol: 'sse', authorization }, [
      callsTools(['echo', { message: 'hi' }]),
      says('Done.'),
    ]);
    await service.chat('app', ask);
    expect(toolTexts(model)).toEqual(['Echo: hi']);
  });
});
