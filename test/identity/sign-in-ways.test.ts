import type { RequestListener } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '#base/time/clock.ts';
import type { TestService } from '#test/start-service.ts';
import { type OidcServer, startOidcServer } from './oidc-server.ts';
import { audience, MovedClock, startServer, startWith, wellKnown } from './support.ts';

const signIn = { clientId: 'page' };
let oidc: OidcServer;

beforeAll(async () => {
  oidc = await startOidcServer();
});

afterAll(() => oidc.stop());

async function waysOf(node: TestService): Promise<readonly Record<string, unknown>[]> {
  const { status, json } = await node.sendRequest({ method: 'GET', path: '/v1/sign-in' });
  expect(status).toBe(200);
  return (json as { data: Record<string, unknown>[] }).data;
}

/** The origins beside the service that the page may talk to. */
async function allowed(node: TestService): Promise<string> {
  const { headers } = await node.app.inject('/index.html');
  return /connect-src 'self'([^;]*);/.exec(String(headers['content-security-policy']))?.[1]?.trim() ?? 'none';
}

/** A provider that answers so to the question for its OpenID configuration. */
const startProvider = (answer: string | RequestListener) => startServer({ [wellKnown]: answer });

describe('the ways to sign in', () => {
  it('are public, with only the fields that a public client needs', async () => {
    await using node = await startWith({
      corporate: { issuer: oidc.issuer, audience, rolesClaim: 'realm_access.roles', signIn },
      machines: { issuer: 'https://machines.example', audience },
    });
    expect(await waysOf(node)).toEqual([
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
    expect(await allowed(node)).toBe(oidc.issuer);
  });

  it('are empty if none is configured, and the page can send requests only to the service', async () => {
    await using node = await startWith({ corporate: { issuer: oidc.issuer, audience } });
    expect([await waysOf(node), await allowed(node)]).toEqual([[], '']);
  });

  it('follow the configuration in force', async () => {
    await using node = await startWith({});
    expect(await waysOf(node)).toEqual([]);
    const entry = {
      issuer: oidc.issuer,
      audience,
      signIn: { ...signIn, displayName: 'Corp', parameters: { resource: audience } },
    };
    node.reload({ identityProviders: { corporate: entry } });
    expect(await waysOf(node)).toEqual([expect.objectContaining({ displayName: 'Corp', parameters: { resource: audience } })]);
  });
});

describe('the endpoints of a provider', () => {
  it('are fetched once for all pages, and again after ten minutes', async () => {
    const provider = await startProvider('{"issuer":"{self}","authorization_endpoint":"{self}/a","token_endpoint":"{self}/t"}');
    const clock = new MovedClock();
    await using node = await startWith({ p: { issuer: provider.url, audience, signIn } }, {}, { clock });
    const ways = await Promise.all(Array.from({ length: 20 }, () => waysOf(node)));
    expect(new Set(ways.map((each) => JSON.stringify(each))).size).toBe(1);
    expect(ways[0]).toEqual([
      expect.objectContaining({
        sendsIssuer: false,
        endpoints: { authorization: `${provider.url}/a`, token: `${provider.url}/t` },
      }),
    ]);
    expect(provider.asked).toEqual([wellKnown]);
    clock.pass(600_001);
    await waysOf(node);
    expect(provider.asked).toEqual([wellKnown, wellKnown]);
  });

  it('that are configured are not asked for', async () => {
    const endpoints = {
      authorizationEndpoint: 'https://id.example/auth',
      tokenEndpoint: 'https://tokens.example:8443/token',
      endSessionEndpoint: 'https://id.example/out',
      revocationEndpoint: 'https://id.example/revoke',
    };
    await using node = await startWith({ p: { issuer: 'https://id.example', audience, signIn: { ...signIn, ...endpoints } } });
    expect(await waysOf(node)).toEqual([
      expect.objectContaining({
        endpoints: {
          authorization: endpoints.authorizationEndpoint,
          token: endpoints.tokenEndpoint,
          endSession: endpoints.endSessionEndpoint,
          revocation: endpoints.revocationEndpoint,
        },
      }),
    ]);
    expect(await allowed(node)).toBe('https://tokens.example:8443 https://id.example');
  });

  it.each([
    ['are a script', '"authorization_endpoint":"javascript:alert(1)","token_endpoint":"{self}/t"'],
    ['are elsewhere over http', '"authorization_endpoint":"{self}/a","token_endpoint":"http://10.0.0.1/t"'],
    ['hold a password', '"authorization_endpoint":"{self}/a","token_endpoint":"https://a:b@id.example/t"'],
    ['are none', '"authorization_endpoint":7,"token_endpoint":null'],
    [
      'belong to another issuer',
      '"issuer":"https://other.example","authorization_endpoint":"{self}/a","token_endpoint":"{self}/t"',
    ],
  ])('that %s are not used', async (_what, fields) => {
    const provider = await startProvider(`{"issuer":"{self}",${fields}}`);
    await using node = await startWith({ p: { issuer: provider.url, audience, signIn } });
    expect(await waysOf(node)).toEqual([expect.objectContaining({ endpoints: null })]);
    expect(await allowed(node)).toBe('');
  });

  it.each(['http://10.0.0.1/r', 'javascript:alert(1)', 7])(
    'that can be done without are left out where they are %j',
    async (url) => {
      const [end, revocation] = [`"end_session_endpoint":${JSON.stringify(url)}`, `"revocation_endpoint":${JSON.stringify(url)}`];
      const needed = '"authorization_endpoint":"{self}/a","token_endpoint":"{self}/t"';
      const provider = await startProvider(`{"issuer":"{self}",${needed},${end},${revocation}}`);
      await using node = await startWith({ p: { issuer: provider.url, audience, signIn } });
      const endpoints = { authorization: `${provider.url}/a`, token: `${provider.url}/t` };
      expect(await waysOf(node)).toEqual([expect.objectContaining({ endpoints })]);
      expect(await allowed(node)).toBe(provider.url);
    },
  );

  it.each(["https://a;script-src'unsafe-inline'", 'https://*.example', 'https://a,b.example'])(
    'cannot write into the policy of the page: %s',
    async (host) => {
      const token = JSON.stringify(`${host}/token`);
      const endpoints = `"authorization_endpoint":"{self}/a","token_endpoint":${token},"revocation_endpoint":${token}`;
      const provider = await startProvider(`{"issuer":"{self}",${endpoints}}`);
      await using node = await startWith({ p: { issuer: provider.url, audience, signIn } });
      await waysOf(node);
      expect(await allowed(node)).toBe('');
    },
  );

  it('that cannot be had are noted once, and looked for again after ten seconds', async () => {
    const state = { isDown: true };
    const provider = await startProvider((_request, response) => {
      const self = provider.url;
      if (state.isDown) response.writeHead(500).end();
      else response.end(JSON.stringify({ issuer: self, authorization_endpoint: `${self}/a`, token_endpoint: `${self}/t` }));
    });
    const [clock, faults] = [new MovedClock(), [] as string[]];
    const noteFault = (message: string) => faults.push(message);
    await using node = await startWith({ p: { issuer: provider.url, audience, signIn } }, {}, { clock, reportError: noteFault });
    const isOffered = async () => (await waysOf(node))[0]?.endpoints !== null;
    expect([await isOffered(), await isOffered(), provider.asked.length]).toEqual([false, false, 1]);
    clock.pass(10_001);
    expect([await isOffered(), provider.asked.length]).toEqual([false, 2]);
    state.isDown = false;
    clock.pass(10_001);
    expect(await isOffered()).toBe(true);
    expect(faults).toEqual(['sign-in with the identity provider p is unavailable']);
  });

  it('do not delay the page if they arrive late', async () => {
    const asked = Promise.withResolvers<void>();
    const provider = await startProvider(() => asked.resolve());
    const clock: Clock = { ...systemClock, sleep: () => asked.promise };
    await using node = await startWith({ p: { issuer: provider.url, audience, signIn } }, {}, { clock });
    expect(await waysOf(node)).toEqual([expect.objectContaining({ endpoints: null })]);
    expect((await node.app.inject('/')).statusCode).not.toBe(500);
  });
});
