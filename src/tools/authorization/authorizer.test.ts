import { describe, expect, it } from 'vitest';
import { Caches } from '#base/cache/bounded-cache.ts';
import type { Clock } from '#base/time/clock.ts';
import { measureMinEventLoopBlock } from '#test/event-loop-block.ts';
import { callTool, createGuardedClient, createTokenCache, neverAborted, startServer } from '#test/rest-tools.ts';
import { createAuthorizer, listCredentialSecrets, maskSecrets, noCredentials } from './authorizer.ts';
import { type ClientCredentials, TokenCache } from './token-cache.ts';

async function startTokenServer(lifetime: object = { expires_in: 100 }, delayMs = 0) {
  let issued = 0;
  return startServer((_request, response) => {
    issued += 1;
    const body = JSON.stringify({ access_token: `token-${issued}`, token_type: 'Bearer', ...lifetime });
    setTimeout(() => response.writeHead(200, { 'content-type': 'application/json' }).end(body), delayMs);
  });
}

const createClient = (server: { url: string }, fields: Partial<ClientCredentials> = {}): ClientCredentials => ({
  type: 'client_id_secret',
  client_id: 'id',
  client_secret: 's&cret',
  token_url: `${server.url}/token`,
  ...fields,
});

describe('createAuthorizer', () => {
  it.each([
    ['a key in a header', { type: 'api_key', key: 'k', name: 'X-Key', location: 'header' }, { headers: { 'x-key': 'k' } }],
    ['a key in the query', { type: 'api_key', key: 'k', name: 'key', location: 'query' }, { query: { key: 'k' } }],
    ['a key in the body', { type: 'api_key', key: 'k', name: 'key', location: 'body' }, { body: { key: 'k' } }],
    [
      'basic',
      { type: 'basic', username: 'Aladdin', password: 'open sesame' },
      { headers: { authorization: 'Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==' } },
    ],
    ['bearer', { type: 'bearer', token: 't' }, { headers: { authorization: 'Bearer t' } }],
    ['none', null, {}],
  ] as const)('creates credentials of the kind %s', async (_what, authorization, expected) => {
    const credentials = await createAuthorizer(authorization, createTokenCache()).getCredentials(neverAborted);
    expect(credentials).toEqual({ headers: {}, query: {}, body: {}, ...expected });
  });
});

describe('TokenCache', () => {
  it('requests a token with the client credentials grant, scope, and audience', async () => {
    const server = await startTokenServer();
    const credentials = await createAuthorizer(
      createClient(server, { scope: 'read write', aud: 'https://api.test' }),
      createTokenCache(),
    ).getCredentials(neverAborted);
    expect(credentials.headers).toEqual({ authorization: 'Bearer token-1' });
    expect(server.seen[0]).toMatchObject({
      method: 'POST',
      url: '/token',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect(server.seen[0]?.body).toBe(
      'grant_type=client_credentials&client_id=id&client_secret=s%26cret&scope=read+write&audience=https%3A%2F%2Fapi.test',
    );
  });

  it('sends one request for concurrent callers', async () => {
    const server = await startTokenServer({}, 20);
    const tokens = createTokenCache();
    const tokenRequests = Array.from({ length: 20 }, () => tokens.getToken(createClient(server), neverAborted));
    expect(new Set(await Promise.all(tokenRequests))).toEqual(new Set(['token-1']));
    expect(server.seen).toHaveLength(1);
  });

  it('completes the request for the remaining callers if one of them disconnects', async () => {
    const server = await startTokenServer({}, 30);
    const tokens = createTokenCache();
    const disconnection = new AbortController();
    const canceledRequest = tokens.getToken(createClient(server), disconnection.signal);
    const remainingRequest = tokens.getToken(createClient(server), neverAborted);
    disconnection.abort(new Error('client disconnected'));
    await expect(canceledRequest).rejects.toThrow('client disconnected');
    expect(await remainingRequest).toBe('token-1');
  });

  it('caches a token per combination of all client settings', async () => {
    const server = await startTokenServer();
    const tokens = createTokenCache();
    const variants: Partial<ClientCredentials>[] = [
      {},
      { client_id: 'id2' },
      { client_secret: 's&cret2' },
      { token_url: `${server.url}/token2` },
      { scope: 'a' },
      { scope: 'ab' },
      { scope: 'a', aud: 'b' },
      { aud: 'a' },
      { client_id: 'i', client_secret: 'ds&cret' },
    ];
    const receivedTokens: string[] = [];
    for (const variant of variants) receivedTokens.push(await tokens.getToken(createClient(server, variant), neverAborted));
    expect(new Set(receivedTokens).size).toBe(variants.length);
    expect(await tokens.getToken(createClient(server, { scope: 'a' }), neverAborted)).toBe('token-5');
  });

  it('renews a token shortly before it expires', async () => {
    let nowMs = 0;
    const clock: Clock = { nowMs: () => nowMs, epochMs: () => 0, sleep: () => Promise.resolve() };
    const server = await startTokenServer({ expires_in: 100 });
    const tokens = createTokenCache(clock);
    const at = async (ms: number) => {
      nowMs = ms;
      return tokens.getToken(createClient(server), neverAborted);
    };
    expect([await at(0), await at(89_999), await at(90_001), await at(180_000)]).toEqual([
      'token-1',
      'token-1',
      'token-2',
      'token-2',
    ]);
  });

  it('caches a token for five minutes if the server does not state a lifetime', async () => {
    let nowMs = 0;
    const clock: Clock = { nowMs: () => nowMs, epochMs: () => 0, sleep: () => Promise.resolve() };
    const server = await startTokenServer({ expires_in: null });
    const tokens = createTokenCache(clock);
    await tokens.getToken(createClient(server), neverAborted);
    nowMs = 260_000;
    expect(await tokens.getToken(createClient(server), neverAborted)).toBe('token-1');
    nowMs = 271_000;
    expect(await tokens.getToken(createClient(server), neverAborted)).toBe('token-2');
  });

  it('retries with an authorization header if the server rejects the secret in the body', async () => {
    const server = await startServer((request, response) =>
      request.headers.authorization
        ? response.end('{"access_token":"t"}')
        : response.writeHead(401).end('{"error":"invalid_client"}'),
    );
    expect(await createTokenCache().getToken(createClient(server), neverAborted)).toBe('t');
    expect(server.seen[1]?.headers.authorization).toBe(`Basic ${Buffer.from('id:s%26cret').toString('base64')}`);
    expect(server.seen[1]?.body).toBe('grant_type=client_credentials');
  });

  it.each([
    [
      'an error',
      400,
      '{"error":"invalid_scope","error_description":"client s&cret has no such scope"}',
      'cannot get a token: the token address answered 400 invalid_scope',
    ],
    ['other content', 200, '<html>', 'cannot get a token: the token address answered 200'],
    [
      'a token of another type',
      200,
      '{"access_token":"t","token_type":"mac"}',
      'cannot get a token: the token address returns tokens of a type other than bearer',
    ],
    ['a redirect', 302, '', 'cannot get a token: the token address answered 302'],
  ])('rejects without disclosing a secret if the server returns %s', async (_what, status, body, message) => {
    const server = await startServer((_request, response) => response.writeHead(status, { location: '/elsewhere' }).end(body));
    const tokens = createTokenCache();
    await expect(tokens.getToken(createClient(server), neverAborted)).rejects.toThrow(message);
    await expect(tokens.getToken(createClient(server), neverAborted)).rejects.toThrow(message);
    expect(server.seen).toHaveLength(2);
  });

  it('sends no request to a private address', async () => {
    const server = await startTokenServer();
    const timeouts = { connectMs: 60_000, firstByteMs: 60_000, idleMs: 60_000 };
    const clock: Clock = { nowMs: () => 0, epochMs: () => 0, sleep: () => Promise.resolve() };
    const tokens = new TokenCache({ http: createGuardedClient([]), clock, caches: new Caches(), timeouts });
    await expect(tokens.getToken(createClient(server), neverAborted)).rejects.toThrow('allowPrivateNetworks');
    expect(server.seen).toEqual([]);
  });
});

describe('createRestTool, if the server returns 401', () => {
  it('requests one new token for all concurrent calls and retries each call once', async () => {
    const issuer = await startTokenServer({ expires_in: 3600 }, 10);
    const api = await startServer((request, response) =>
      request.headers.authorization === 'Bearer token-2' ? response.end('welcome') : response.writeHead(401).end('expired'),
    );
    const authorizer = createAuthorizer(createClient(issuer), createTokenCache());
    const results = await Promise.all(Array.from({ length: 8 }, () => callTool({ url: api.url }, {}, authorizer)));
    expect(results.map(({ text }) => text)).toEqual(Array(8).fill('welcome'));
    expect(issuer.seen).toHaveLength(2);
    expect(api.seen).toHaveLength(16);
  });

  it('returns the 401 to the model if a new token does not help', async () => {
    const issuer = await startTokenServer();
    const api = await startServer((_request, response) => response.writeHead(401, { 'content-type': 'text/plain' }).end('no'));
    expect(await callTool({ url: api.url }, {}, createAuthorizer(createClient(issuer), createTokenCache()))).toMatchObject({
      text: 'HTTP 401: no',
      failed: true,
    });
    expect(api.seen).toHaveLength(2);
  });

  it('returns the 401 immediately if the credentials are fixed', async () => {
    const api = await startServer((_request, response) => response.writeHead(401).end());
    const authorizer = createAuthorizer({ type: 'bearer', token: 'fixed' }, createTokenCache());
    expect(await callTool({ url: api.url }, {}, authorizer)).toMatchObject({ text: 'HTTP 401', failed: true });
    expect(api.seen).toHaveLength(1);
  });
});

describe('createRestTool with a public operation', () => {
  it('sends no credentials', async () => {
    const api = await startServer((_request, response) => response.end('ok'));
    await callTool(
      { url: api.url, isPublic: true },
      {},
      createAuthorizer({ type: 'bearer', token: 'fixed' }, createTokenCache()),
    );
    expect(api.seen[0]?.headers).not.toHaveProperty('authorization');
  });
});

describe('maskSecrets', () => {
  it('replaces all occurrences of each secret, plain and percent-encoded', () => {
    expect(maskSecrets('a k3y/+x b k3y%2F%2Bx c k3y/+x', ['k3y/+x'])).toBe('a *** b *** c ***');
  });

  it('replaces a secret that contains another one completely', () => {
    expect(maskSecrets('a k3y-long b k3y-', ['k3y-', 'k3y-long'])).toBe('a *** b ***');
  });

  it('does not block the event loop for a long secret that almost occurs everywhere', async () => {
    const secret = `ab${'a'.repeat(8000)}`;
    const blockedMs = await measureMinEventLoopBlock(250, () => maskSecrets('a'.repeat(1_000_000), [secret, secret]));
    expect(blockedMs).toBeLessThan(250);
  });

  it('accepts a secret with a lone surrogate', () => {
    expect(maskSecrets('a abcd\ud800 b abcd%EF%BF%BD', ['abcd\ud800'])).toBe('a *** b ***');
  });

  it('ignores secrets that are too short to distinguish from ordinary words', () => {
    expect(maskSecrets('abc', ['abc', ''])).toBe('abc');
  });
});

it('listCredentialSecrets returns the values of all fields, without the name of the scheme', () => {
  const headers = { authorization: 'Bearer one', 'x-key': 'two' };
  expect(listCredentialSecrets({ headers, query: { key: 'three' }, body: { key: 'four' } })).toEqual([
    'one',
    'two',
    'three',
    'four',
  ]);
  expect(listCredentialSecrets({ ...noCredentials, headers: { authorization: 'Basic dTpw' } })).toEqual(['dTpw']);
});
