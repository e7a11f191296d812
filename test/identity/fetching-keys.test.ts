import type { RequestListener } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { TestService } from '#test/start-service.ts';
import { getSigningKey } from './forge.ts';
import {
  AdjustableClock,
  audience,
  createProviderEntry,
  requestUserInfo,
  startIssuer,
  startServer,
  startWithProviders,
  wellKnown,
} from './support.ts';

/**
 * Starts a signing issuer and a server at the address in its tokens. The server publishes keys as `answers` specifies, which
 * receives the valid key set.
 */
async function publishKeys(answers: (keys: string) => Readonly<Record<string, string | RequestListener>>, entry: object = {}) {
  const signer = await startIssuer();
  const server = await startServer(answers(JSON.stringify({ keys: signer.server.issuer.keys.toJSON() })));
  const reportedErrors: unknown[] = [];
  const node = await startWithProviders(
    { p: { issuer: server.url, audience, ...entry } },
    {},
    { reportError: (message, error) => message.startsWith('cannot fetch the keys') && reportedErrors.push(error) },
  );
  onTestFinished(async () => {
    await node.close();
    await signer.stop();
  });
  const sendToken = async () => requestUserInfo(node, await signer.token({ iss: server.url }));
  return { ask: sendToken, asked: server.requestedPaths, faults: reportedErrors };
}

describe('address of the keys', () => {
  it('comes from the OpenID configuration if it is not configured', async () => {
    const { ask: sendToken, asked: requestedPaths } = await publishKeys((keys) => ({
      [wellKnown]: '{"issuer":"{self}","jwks_uri":"{self}/k"}',
      '/k': keys,
    }));
    expect((await sendToken()).json).toMatchObject({ user: 'ada' });
    expect(requestedPaths).toEqual([wellKnown, '/k']);
  });

  it.each([
    ['has another issuer', '{"issuer":"{self}/","jwks_uri":"{self}/k"}', 'its OpenID configuration names a different issuer'],
    ['has no issuer', '{"jwks_uri":"{self}/k"}', 'its OpenID configuration names a different issuer'],
    ['has no address of the keys', '{"issuer":"{self}"}', 'its OpenID configuration has no valid https URL in jwks_uri'],
    [
      'has an http address on another machine',
      '{"issuer":"{self}","jwks_uri":"http://10.0.0.1/k"}',
      'its OpenID configuration has no valid https URL in jwks_uri',
    ],
    [
      'has a file address',
      '{"issuer":"{self}","jwks_uri":"file:///etc/passwd"}',
      'its OpenID configuration has no valid https URL in jwks_uri',
    ],
    ['is not JSON', '<html>', 'its server did not respond with a JSON object'],
  ])('is not read from an OpenID configuration that %s', async (_what, text, fault) => {
    const {
      ask: sendToken,
      asked: requestedPaths,
      faults: reportedErrors,
    } = await publishKeys((keys) => ({ [wellKnown]: text, '/k': keys }));
    const answer = await sendToken();
    expect([answer.status, answer.error.code]).toEqual([503, 'overloaded']);
    expect(answer.error.message).not.toContain(fault);
    expect(reportedErrors).toEqual([expect.objectContaining({ message: fault })]);
    expect(requestedPaths).toEqual([wellKnown]);
  });
});

describe('key set', () => {
  it.each<[what: string, reply: (keys: string) => string | RequestListener, fault: string | RegExp]>([
    ['is larger than 1 MiB', (keys) => `${keys.slice(0, -1)},"more":"${'x'.repeat(1024 * 1024)}"}`, /larger than 1048576 bytes/],
    ['never ends', (keys) => (_request, response) => void response.write(keys.slice(0, -1)), /sent no data|aborted|timeout/i],
    [
      'is a redirect',
      () => (_request, response) => void response.writeHead(302, { location: '/good' }).end(),
      'its server responded with status 302',
    ],
    [
      'is an error',
      (keys) => (_request, response) => void response.writeHead(500).end(keys),
      'its server responded with status 500',
    ],
    ['has no keys', () => '{"keys":[]}', 'its key URL does not return a set of 1 to 100 keys'],
    [
      'has more than 100 keys',
      () => JSON.stringify({ keys: Array(101).fill({ kty: 'RSA' }) }),
      'its key URL does not return a set of 1 to 100 keys',
    ],
    ['has invalid keys', () => '{"keys":["a"]}', 'its key URL does not return a set of 1 to 100 keys'],
    ['is a list', (keys) => `[${keys}]`, 'its server did not respond with a JSON object'],
  ])('that %s is rejected', async (_what, reply, fault) => {
    const { ask: sendToken, faults: reportedErrors } = await publishKeys((keys) => ({
      [wellKnown]: '{"issuer":"{self}","jwks_uri":"{self}/k"}',
      '/k': reply(keys),
      '/good': keys,
    }));
    expect((await sendToken()).status).toBe(503);
    expect(reportedErrors).toEqual([expect.objectContaining({ message: expect.stringMatching(fault) })]);
  });

  it('can contain keys of any type, but symmetric and private keys verify no token', async () => {
    const signer = await startIssuer();
    onTestFinished(signer.stop);
    const [privateJwk] = signer.server.issuer.keys.toJSON(true);
    const unusableKeys = [{ kty: 'oct', k: 'AAAA', kid: 'key-1' }, { kty: 'unheard of', kid: 'key-1' }, { kid: 'key-1' }];
    const keys = {
      good: [...unusableKeys, ...signer.server.issuer.keys.toJSON()],
      private: [...unusableKeys, privateJwk],
      none: unusableKeys,
    };
    const server = await startServer(
      Object.fromEntries(Object.entries(keys).map(([name, set]) => [`/${name}`, JSON.stringify({ keys: set })])),
    );
    const statuses: number[] = [];
    for (const name of Object.keys(keys)) {
      await using node = await startWithProviders({ p: { issuer: signer.url, jwksUrl: `${server.url}/${name}`, audience } });
      statuses.push((await requestUserInfo(node, await signer.token())).status);
    }
    expect(statuses).toEqual([200, 401, 401]);
  });

  it('with weak keys verifies no token', async () => {
    const signer = await startIssuer();
    onTestFinished(signer.stop);
    expect(getSigningKey(signer).asymmetricKeyDetails?.modulusLength).toBe(2048);
    const [jwk] = signer.server.issuer.keys.toJSON();
    const server = await startServer({ '/weak': JSON.stringify({ keys: [{ ...jwk, n: String(jwk?.n).slice(0, 171) }] }) });
    await using node = await startWithProviders({ p: { issuer: signer.url, jwksUrl: `${server.url}/weak`, audience } });
    expect((await requestUserInfo(node, await signer.token())).error.code).toBe('invalid_token');
  });
});

describe('tokens with unknown keys', () => {
  const sendMany = async (node: TestService, token: string, times: number) => {
    const answers = await Promise.all(Array.from({ length: times }, () => requestUserInfo(node, token)));
    return new Set(answers.map(({ status }) => status));
  };

  it('cause at most one request to the provider in 30 s', async () => {
    await using issuer = await startIssuer();
    const clock = new AdjustableClock();
    await using node = await startWithProviders({ p: createProviderEntry(issuer) }, {}, { clock });
    const unknown = await issuer.token({}, { kid: 'made-up' });
    expect(await sendMany(node, unknown, 20)).toEqual(new Set([401]));
    expect(await sendMany(node, unknown, 20)).toEqual(new Set([401]));
    expect(issuer.countKeyRequests()).toBe(2);
    clock.advance(30_000);
    await sendMany(node, unknown, 20);
    expect(issuer.countKeyRequests()).toBe(3);
    expect((await requestUserInfo(node, await issuer.token())).status).toBe(200);
  });

  it('without a key ID are also tried with new keys', async () => {
    await using issuer = await startIssuer();
    await using node = await startWithProviders({ p: createProviderEntry(issuer) });
    expect((await requestUserInfo(node, await issuer.token({}, { kid: undefined }))).status).toBe(200);
    await using next = await startIssuer();
    const [key] = next.server.issuer.keys.toJSON(true);
    await issuer.server.issuer.keys.add({ ...key, kid: 'key-1' });
    expect((await requestUserInfo(node, await issuer.token({}, { kid: undefined }))).status).toBe(200);
  });
});

describe('several matching keys', () => {
  it('are tried in sequence for a token without a key ID', async () => {
    await using issuer = await startIssuer();
    for (const kid of ['key-2', 'key-3']) await issuer.server.issuer.keys.generate('RS256', { kid });
    await using node = await startWithProviders({ p: createProviderEntry(issuer) });
    for (let key = 0; key < 3; key += 1)
      expect((await requestUserInfo(node, await issuer.token({}, { kid: undefined }))).status).toBe(200);
    const expired = await requestUserInfo(node, await issuer.token({ exp: 1 }, { kid: undefined }));
    expect(expired.error.message).toBe('The token has expired. Get a new one.');
  });
});
