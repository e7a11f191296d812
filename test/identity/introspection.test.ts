import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { jsonReply, type ScriptedUpstream, startScriptedUpstream, type UpstreamExchange } from '#test/scripted-upstream.ts';
import type { TestResponse } from '#test/send-request.ts';
import type { TestService } from '#test/start-service.ts';
import { AdjustableClock, createProviderEntry, type Issuer, startIssuer, startWithProviders, withProviders } from './support.ts';

const clock = new AdjustableClock();
const [clientId, clientSecret] = ['parley: gateway', 'a secret+with/ü'];
const issuerUrl = 'https://opaque.example';
const nowSeconds = (): number => Math.floor(clock.epochMs() / 1000);

let issuer: Issuer;
let first: ScriptedUpstream;
let second: ScriptedUpstream;
let service: TestService;
const reportedErrors: string[] = [];

/** Returns entries of a JWT provider and two providers that introspect tokens. */
function listProviders(introspection: object = {}): object {
  const createEntry = (server: ScriptedUpstream, entry: object) => ({
    introspection: { url: `${server.url}/introspect?realm=a`, clientId, clientSecret, ...introspection },
    ...entry,
  });
  return {
    jwt: createProviderEntry(issuer, { rolesClaim: 'roles' }),
    opaque: createEntry(first, { issuer: issuerUrl, audience: 'parley', rolesClaim: 'realm.roles', projectClaim: 'team' }),
    other: createEntry(second, { issuer: 'https://other.example', userIdClaim: 'username' }),
  };
}

const keys = { 'a-key': { project: 'team' } };
const security = { trustedProxies: ['127.0.0.1'] };

beforeAll(async () => {
  issuer = await startIssuer();
  [first, second] = await Promise.all([startScriptedUpstream(), startScriptedUpstream()]);
  service = await startWithProviders(
    listProviders(),
    { keys, security },
    { clock, reportError: (message) => reportedErrors.push(message) },
  );
});

afterAll(async () => {
  await service.close();
  await Promise.all([first.close(), second.close(), issuer.stop()]);
});

let count = 0;
/** Token and client address of the current test. */
let token = '';
let address = '';
/** Number of introspections by the first provider before the current test. */
let firstSeen = 0;
const countRequests = (): number => first.requests.length - firstSeen;
beforeEach(() => {
  count += 1;
  token = `opaque-token.${count}~/+x==`;
  address = `10.0.0.${count}`;
  for (const server of [first, second]) server.script(jsonReply({ active: false }));
  firstSeen = first.requests.length;
});

const active = (claims: object = {}) => jsonReply({ active: true, sub: 'ada', ...claims });

function send(credentials = token, headers: Readonly<Record<string, string>> = {}): Promise<TestResponse> {
  const fields = { authorization: `Bearer ${credentials}`, 'x-forwarded-for': address, ...headers };
  return service.sendRequest({ method: 'GET', path: '/v1/user/info', headers: fields });
}

async function getRejection(credentials = token): Promise<unknown> {
  const { status, error, headers } = await send(credentials);
  return [status, error.code, error.message, headers['retry-after']];
}

describe('opaque tokens', () => {
  it('identify the caller by the claims of the introspection', async () => {
    first.script(
      active({ iss: issuerUrl, aud: ['parley', 'x'], realm: { roles: ['staff'] }, team: 'research', token_type: 'Bearer' }),
    );
    expect((await send()).json).toEqual({ user: 'jwt:opaque:ada', project: 'research', roles: ['staff'] });
    const request = first.requests.at(-1);
    const [scheme, encoded = ''] = String(request?.headers.authorization).split(' ');
    expect([scheme, Buffer.from(encoded, 'base64').toString()]).toEqual(['Basic', 'parley%3A+gateway:a+secret%2Bwith%2F%C3%BC']);
    expect(request?.headers['content-type']).toBe('application/x-www-form-urlencoded');
    expect(Object.fromEntries(new URLSearchParams(request?.text))).toEqual({ token, token_type_hint: 'access_token' });
  });

  it('are introspected by the next provider if one does not know them', async () => {
    second.script(jsonReply({ active: true, username: 'grace' }));
    expect((await send()).json).toMatchObject({ user: 'jwt:other:grace', project: 'other', roles: ['default'] });
    expect([countRequests(), second.requests.at(-1)?.text]).toEqual([1, first.requests.at(-1)?.text]);
  });

  it('are accepted in the form of a JWT with an unknown issuer', async () => {
    first.script(active());
    const foreign = await issuer.token({ iss: 'https://elsewhere.example' });
    expect((await send(foreign)).status).toBe(200);
    expect((await send(`${count}.b.c.d.e`)).status).toBe(200);
    expect(countRequests()).toBe(2);
  });

  it('are not introspected if they are keys, JWTs of a configured issuer, or not in the form of a token', async () => {
    const forged = `${(await issuer.token()).slice(0, -4)}AAAA`;
    const statuses = [];
    for (const credentials of ['a-key', await issuer.token(), forged, 'no such key', 'parley_u_x', 'parley-node-x'])
      statuses.push((await send(credentials)).status);
    expect(statuses).toEqual([200, 200, 401, 401, 401, 401]);
    expect(countRequests()).toBe(0);
  });

  it.each<[what: string, claims: () => object, message: string]>([
    ['is inactive', () => ({ active: false, sub: 'ada' }), 'is unknown, expired, or revoked. Get a new one'],
    ['has expired', () => ({ exp: nowSeconds() - 31 }), 'has expired. Get a new one'],
    ['is not yet valid', () => ({ nbf: nowSeconds() + 60 }), 'is not yet valid'],
    ['has an invalid time', () => ({ exp: 'tomorrow' }), 'has a claim exp that is not a valid time'],
    ['has another issuer', () => ({ iss: 'https://evil.example' }), 'has an unexpected issuer'],
    ['has another audience', () => ({ aud: 'mail' }), 'was issued for a different audience'],
    ['is a refresh token', () => ({ typ: 'Refresh' }), 'has a type that gives no access. Send an access token'],
    ['is bound to a key', () => ({ token_type: 'DPoP' }), 'has a type that gives no access. Send an access token'],
    ['has no user', () => ({ sub: 7 }), 'has no valid user ID: its claim sub is missing or invalid'],
  ])('are rejected if the token %s, and the rejection is cached briefly', async (_what, claims, message) => {
    first.script(active(claims()));
    const expected = [401, 'invalid_token', `The token ${message}.`, undefined];
    expect([await getRejection(), await getRejection()]).toEqual([expected, expected]);
    expect(countRequests()).toBe(1);
    clock.advance(10_001);
    first.script(active());
    expect((await send()).status).toBe(200);
  });

  it.each<[what: string, claims: () => object, validMs: number]>([
    ['for a minute', () => ({ exp: nowSeconds() + 3600 }), 60_000],
    ['until they expire', () => ({ exp: nowSeconds() + 20 }), 20_000],
    ['for a minute if they have no expiry', () => ({ exp: null, aud: null }), 60_000],
  ])('are cached %s', async (_what, claims, validMs) => {
    first.script(active(claims()));
    expect((await send()).status).toBe(200);
    clock.advance(validMs - 2_000);
    expect((await send()).status).toBe(200);
    expect(countRequests()).toBe(1);
    clock.advance(2_001);
    first.script(jsonReply({ active: false }));
    expect((await send()).status).toBe(401);
  });

  it('share one introspection in concurrent requests', async () => {
    const released = Promise.withResolvers<void>();
    first.script(async (exchange: UpstreamExchange) => {
      await released.promise;
      await active()(exchange);
    });
    const answers = Array.from({ length: 8 }, () => send());
    while (countRequests() === 0) await new Promise((resolve) => setImmediate(resolve));
    released.resolve();
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(Array(8).fill(200));
    expect(countRequests()).toBe(1);
  });
});

describe('an identity provider that fails', () => {
  const prefix = 'Parley cannot check the token with the identity provider: ';
  const suffix = '. Send the request again later.';

  it.each<[what: string, answer: (exchange: UpstreamExchange) => unknown, reason: string]>([
    ['an error status', jsonReply({ active: true, sub: 'ada' }, 500), 'its introspection endpoint responded with status 500'],
    [
      'a redirect',
      ({ response }) => response.writeHead(307, { location: `${second.url}/introspect` }).end(),
      'its introspection endpoint responded with status 307',
    ],
    ['no response', ({ response }) => response.destroy(), 'its introspection endpoint did not respond'],
    [
      'a text as active',
      jsonReply({ active: 'true', sub: 'ada' }),
      'its introspection endpoint did not respond with a JSON object whose field active is a boolean',
    ],
    ['a long response', active({ more: 'x'.repeat(65_536) }), "the reply's body is larger than 65536 bytes"],
  ])('returns 503 after %s', async (_what, answer, reason) => {
    first.script(answer as never);
    expect(await getRejection()).toEqual([503, 'overloaded', `${prefix}${reason}${suffix}`, '5']);
    second.script(jsonReply({ active: true, username: 'grace' }));
    expect((await send()).json).toMatchObject({ user: 'jwt:other:grace' });
  });

  it('is reported once until it responds again', async () => {
    first.script(active());
    await send(`${token}a`.replaceAll('=', ''));
    reportedErrors.length = 0;
    first.script(jsonReply({}, 500));
    await send();
    await send();
    expect(reportedErrors.filter((message) => message.startsWith('cannot introspect'))).toEqual([
      'cannot introspect tokens with the identity provider opaque',
    ]);
  });
});

describe('random tokens', () => {
  it('reach the provider at most 30 times in a row from one address', async () => {
    const statuses: number[] = [];
    for (let index = 0; index < 40; index += 1) statuses.push((await send(`random-${count}-${index}`)).status);
    expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(32);
    expect(statuses.at(-1)).toBe(429);
    expect(countRequests()).toBeLessThanOrEqual(32);
    first.script(active());
    expect(await getRejection()).toEqual([
      429,
      'request_limit_exceeded',
      'Too many unknown tokens come from this address. Send a valid token, or wait.',
      '5',
    ]);
    expect((await send(`${count}-elsewhere`, { 'x-forwarded-for': '10.1.0.1' })).status).toBe(200);
    expect((await send('a-key')).status).toBe(200);
    clock.advance(2_000);
    expect((await send()).status).toBe(200);
  });

  it('share the bound of the first 64 bits of an IPv6 address', async () => {
    const statuses: number[] = [];
    for (let index = 0; index < 40; index += 1) {
      const forwarded = index % 2 === 0 ? `2001:db8::${index}:0` : `2001:0DB8:0:0:${index}::1`;
      statuses.push((await send(`random-${count}-${index}`, { 'x-forwarded-for': forwarded })).status);
    }
    expect(statuses.at(-1)).toBe(429);
  });

  it('are introspected at most 32 at a time', async () => {
    const released = Promise.withResolvers<void>();
    first.script(async (exchange: UpstreamExchange) => {
      await released.promise;
      await active()(exchange);
    });
    const answers = Array.from({ length: 32 }, (_, index) =>
      send(`waiting-${count}-${index}`, { 'x-forwarded-for': `10.2.0.${index}` }),
    );
    while (countRequests() < 32) await new Promise((resolve) => setImmediate(resolve));
    expect(await getRejection()).toEqual([503, 'overloaded', expect.stringContaining('checking too many tokens'), '1']);
    expect((await send('a-key')).status).toBe(200);
    released.resolve();
    expect((await Promise.all(answers)).every(({ status }) => status === 200)).toBe(true);
  });
});

it('a new configuration discards introspected tokens, and cacheSeconds 0 disables the cache', async () => {
  first.script(active());
  await send();
  service.reload(withProviders(listProviders({ cacheSeconds: 0 }), { keys, security }));
  await send();
  await send();
  expect(countRequests()).toBe(3);
});
