import { beforeAll, describe, expect, it } from 'vitest';
import { echo, startStateless } from './servers.ts';
import { loadMcpTools, startWebServer } from './support.ts';

const hangs = () => new Promise<Response>(() => undefined);

function clientCredentials(tokenUrl: string) {
  return { type: 'client_id_secret', client_id: 'id', client_secret: 'canary-secret', token_url: tokenUrl } as const;
}

describe('UnresponsiveServers', () => {
  // The client and its libraries are loaded with the first use, which takes longer than the short limits of these tests.
  beforeAll(() => Promise.all([import('@modelcontextprotocol/client'), import('undici')]).then(() => undefined));

  it('does not count the wait for a token as silence of the server', async () => {
    const server = await startStateless([echo]);
    const tokens = await startWebServer(hangs);
    const { load } = loadMcpTools(server.url, { connectMs: 1_500, listMs: 30_000 });
    await expect(load(undefined, 'attacker', { authorization: clientCredentials(tokens.url) })).rejects.toThrow(
      'The MCP server Tools could not be called: cannot get a token within 1.5 s.',
    );
    expect(tokens.seen.length).toBeGreaterThan(0);
    expect((await load(undefined, 'victim')).map(({ name }) => name)).toEqual(['echo']);
    // A caller with the same credentials requests a token again, since the server itself was never silent.
    await expect(load(undefined, 'other', { authorization: clientCredentials(tokens.url) })).rejects.toThrow(
      'cannot get a token',
    );
  });

  it('gives the server its full time after a slow token', async () => {
    let delayMs = 0;
    const server = await startStateless([echo], {
      before: () => new Promise((resolve) => setTimeout(() => resolve(undefined), delayMs)),
    });
    const tokens = await startWebServer(async () => {
      await new Promise((resolve) => setTimeout(resolve, 2_500));
      return Response.json({ access_token: 'token', token_type: 'Bearer', expires_in: 3600 });
    });
    delayMs = 500;
    const { load } = loadMcpTools(server.url, { connectMs: 2_900, listMs: 30_000 });
    expect(await load(undefined, 'user', { authorization: clientCredentials(tokens.url) })).toHaveLength(1);
  });

  it.each([
    ['other credentials', { authorization: { type: 'bearer', token: 'canary-token' } }],
    ['other headers', { headers: { 'x-silent': 'yes' } }],
  ] as const)('does not block other callers if a server is silent for %s', async (_what, settings) => {
    const server = await startStateless([echo], {
      before: ({ headers }) => (headers.has('authorization') || headers.has('x-silent') ? hangs() : undefined),
    });
    const { load } = loadMcpTools(server.url, { connectMs: 1_500, listMs: 30_000 });
    await expect(load(undefined, 'attacker', settings)).rejects.toThrow('did not answer within 1.5 s');
    const requestCount = server.seen.length;
    await expect(load(undefined, 'same settings', settings)).rejects.toThrow('did not answer within 1.5 s');
    expect(server.seen).toHaveLength(requestCount);
    expect(await load(undefined, 'victim')).toHaveLength(1);
  });
});
