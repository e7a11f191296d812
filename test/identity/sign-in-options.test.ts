import type { RequestListener } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '#base/time/clock.ts';
import type { TestService } from '#test/start-service.ts';
import { type OidcServer, startOidcServer } from './oidc-server.ts';
import { AdjustableClock, audience, startServer, startWithProviders, wellKnown } from './support.ts';

const signIn = { clientId: 'page' };
let oidc: OidcServer;

beforeAll(async () => {
  oidc = await startOidcServer();
});

afterAll(() => oidc.stop());

async function listSignInOptions(node: TestService): Promise<readonly Record<string, unknown>[]> {
  const { status, json } = await node.sendRequest({ method: 'GET', path: '/v1/sign-in' });
  expect(status).toBe(200);
  return (json as { data: Record<string, unknown>[] }).data;
}

/** Returns the origins, in addition to the service, to which the page may connect. */
async function getConnectSources(node: TestService): Promise<string> {
  const { headers } = await node.app.inject('/index.html');
  return /connect-src 'self'([^;]*);/.exec(String(headers['content-security-policy']))?.[1]?.trim() ?? 'none';
}

/** Starts a provider that answers requests for its OpenID configuration. */
const startProvider = (answer: string | RequestListener) => startServer({ [wellKnown]: answer });

describe('sign-in options', () => {
  it('are public, with only the fields that a public client needs', async () => {
    await using node = await startWithProviders({
      corporate: { issuer: oidc.issuer, audience, rolesClaim: 'realm_access.roles', signIn },
      machines: { issuer: 'https://machines.example', audience },
    });
    expect(await listSignInOptions(node)).toEqual([
      {
        name: 'corporate',
        displayName: 'corporate',
        issuer: oidc.issuer,
        clientId: 'page',
        scopes: ['openid'],
        token: 'access_token',
        parameters: {},
        sendsIssuer: true,
        endpoints: {
          authorization: `${oidc.issuer}/auth`,
          token: `${oidc.issuer}/token`,
          endSession: `${oidc.issuer}/session/end`,
          revocation: `${oidc.issuer}/token/revocation`,
        },
      },
    ]);
    expect(await getConnectSources(node)).toBe(oidc.issuer);
  });

  it('are empty without a configured provider, and the page can send requests only to the service', async () => {
    await using node = await startWithProviders({ corporate: { issuer: oidc.issuer, audience } });
    expect([await listSignInOptions(node), await getConnectSources(node)]).toEqual([[], '']);
  });

  it('follow the current configuration', async () => {
    await using node = await startWithProviders({});
    expect(await listSignInOptions(node)).toEqual([]);
    const entry = {
      issuer: oidc.issuer,
      audience,
      signIn: { ...signIn, displayName: 'Corp', parameters: { resource: audience } },
    };
    node.reload({ identityProviders: { corporate: entry } });
    expect(await listSignInOptions(node)).toEqual([
      expect.objectContaining({ displayName: 'Corp', parameters: { resource: audience } }),
    ]);
  });
});

describe('endpoints of a provider', () => {
  it('are fetched once for all pages, and again after 10 minutes', async () => {
    const provider = await startProvider('{"issuer":"{self}","authorization_endpoint":"{self}/a","token_endpoint":"{self}/t"}');
    const clock = new AdjustableClock();
    await using node = await startWithProviders({ p: { issuer: provider.url, audience, signIn } }, {}, { clock });
    const results = await Promise.all(Array.from({ length: 20 }, () => listSignInOptions(node)));
    expect(new Set(results.map((each) => JSON.stringify(each))).size).toBe(1);
    expect(results[0]).toEqual([
      expect.objectContaining({
        sendsIssuer: false,
        endpoints: { authorization: `${provider.url}/a`, token: `${provider.url}/t` },
      }),
    ]);
    expect(provider.requestedPaths).toEqual([wellKnown]);
    clock.advance(600_001);
    await listSignInOptions(node);
    expect(provider.requestedPaths).toEqual([wellKnown, wellKnown]);
  });

  it('are not fetched if they are configured', async () => {
    const endpoints = {
      authorizationEndpoint: 'https://id.example/auth',
      tokenEndpoint: 'https://tokens.example:8443/token',
      endSessionEndpoint: 'https://id.example/out',
      revocationEndpoint: 'https://id.example/revoke',
    };
    await using node = await startWithProviders({
      p: { issuer: 'https://id.example', audience, signIn: { ...signIn, ...endpoints } },
    });
    expect(await listSignInOptions(node)).toEqual([
      expect.objectContaining({
        endpoints: {
          authorization: endpoints.authorizationEndpoint,
          token: endpoints.tokenEndpoint,
          endSession: endpoints.endSessionEndpoint,
          revocation: endpoints.revocationEndpoint,
        },
      }),
    ]);
    expect(await getConnectSources(node)).toBe('https://tokens.example:8443 https://id.example');
  });

  it.each([
    ['are script URLs', '"authorization_endpoint":"javascript:alert(1)","token_endpoint":"{self}/t"'],
    ['are on another machine over http', '"authorization_endpoint":"{self}/a","token_endpoint":"http://10.0.0.1/t"'],
    ['contain a password', '"authorization_endpoint":"{self}/a","token_endpoint":"https://a:b@id.example/t"'],
    ['are not strings', '"authorization_endpoint":7,"token_endpoint":null'],
    [
      'belong to another issuer',
      '"issuer":"https://other.example","authorization_endpoint":"{self}/a","token_endpoint":"{self}/t"',
    ],
  ])('that %s are ignored', async (_what, fields) => {
    const provider = await startProvider(`{"issuer":"{self}",${fields}}`);
    await using node = await startWithProviders({ p: { issuer: provider.url, audience, signIn } });
    expect(await listSignInOptions(node)).toEqual([expect.objectContaining({ endpoints: null })]);
    expect(await getConnectSources(node)).toBe('');
  });

  it.each(['http://10.0.0.1/r', 'javascript:alert(1)', 7])('that are optional are omitted if they are %j', async (url) => {
    const [end, revocation] = [`"end_session_endpoint":${JSON.stringify(url)}`, `"revocation_endpoint":${JSON.stringify(url)}`];
    const needed = '"authorization_endpoint":"{self}/a","token_endpoint":"{self}/t"';
    const provider = await startProvider(`{"issuer":"{self}",${needed},${end},${revocation}}`);
    await using node = await startWithProviders({ p: { issuer: provider.url, audience, signIn } });
    const endpoints = { authorization: `${provider.url}/a`, token: `${provider.url}/t` };
    expect(await listSignInOptions(node)).toEqual([expect.objectContaining({ endpoints })]);
    expect(await getConnectSources(node)).toBe(provider.url);
  });

  it.each(["https://a;script-src'unsafe-inline'", 'https://*.example', 'https://a,b.example'])(
    'cannot inject directives into the Content-Security-Policy of the page: %s',
    async (host) => {
      const token = JSON.stringify(`${host}/token`);
      const endpoints = `"authorization_endpoint":"{self}/a","token_endpoint":${token},"revocation_endpoint":${token}`;
      const provider = await startProvider(`{"issuer":"{self}",${endpoints}}`);
      await using node = await startWithProviders({ p: { issuer: provider.url, audience, signIn } });
      await listSignInOptions(node);
      expect(await getConnectSources(node)).toBe('');
    },
  );

  it('that cannot be fetched are reported once and fetched again after 10 s', async () => {
    const state = { isDown: true };
    const provider = await startProvider((_request, response) => {
      const self = provider.url;
      if (state.isDown) response.writeHead(500).end();
      else response.end(JSON.stringify({ issuer: self, authorization_endpoint: `${self}/a`, token_endpoint: `${self}/t` }));
    });
    const [clock, errorMessages] = [new AdjustableClock(), [] as string[]];
    const recordError = (message: string) => errorMessages.push(message);
    await using node = await startWithProviders(
      { p: { issuer: provider.url, audience, signIn } },
      {},
      { clock, reportError: recordError },
    );
    const isOffered = async () => (await listSignInOptions(node))[0]?.endpoints !== null;
    expect([await isOffered(), await isOffered(), provider.requestedPaths.length]).toEqual([false, false, 1]);
    clock.advance(10_001);
    expect([await isOffered(), provider.requestedPaths.length]).toEqual([false, 2]);
    state.isDown = false;
    clock.advance(10_001);
    expect(await isOffered()).toBe(true);
    expect(errorMessages).toEqual(['sign-in with the identity provider p is unavailable']);
  });

  it('do not delay the page if they arrive late', async () => {
    const fetched = Promise.withResolvers<void>();
    const provider = await startProvider(() => fetched.resolve());
    const clock: Clock = { ...systemClock, sleep: () => fetched.promise };
    await using node = await startWithProviders({ p: { issuer: provider.url, audience, signIn } }, {}, { clock });
    expect(await listSignInOptions(node)).toEqual([expect.objectContaining({ endpoints: null })]);
    expect((await node.app.inject('/')).statusCode).not.toBe(500);
  });
});
