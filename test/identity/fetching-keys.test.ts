import type { RequestListener } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { TestService } from '#test/start-service.ts';
import { keyOf } from './forge.ts';
import { audience, entryOf, MovedClock, startIssuer, startServer, startWith, wellKnown, whoIs } from './support.ts';

/** A mock issuer whose tokens name another address, where the keys are published as `answers` say; `{keys}` are its good ones. */
async function publishedAs(answers: (keys: string) => Readonly<Record<string, string | RequestListener>>, entry: object = {}) {
  const signer = await startIssuer();
  const server = await startServer(answers(JSON.stringify({ keys: signer.server.issuer.keys.toJSON() })));
  const faults: unknown[] = [];
  const node = await startWith(
    { p: { issuer: server.url, audience, ...entry } },
    {},
    { reportError: (message, thrown) => message.startsWith('cannot fetch the keys') && faults.push(thrown) },
  );
  onTestFinished(async () => {
    await node.close();
    await signer.stop();
  });
  const ask = async () => whoIs(node, await signer.token({ iss: server.url }));
  return { ask, asked: server.asked, faults };
}

describe('the address of the keys', () => {
  it('comes from the OpenID configuration if none is configured', async () => {
    const { ask, asked } = await publishedAs((keys) => ({
      [wellKnown]: '{"issuer":"{self}","jwks_uri":"{self}/k"}',
      '/k': keys,
    }));
    expect((await ask()).json).toMatchObject({ user: 'ada' });
    expect(asked).toEqual([wellKnown, '/k']);
  });

  it.each([
    ['names another issuer', '{"issuer":"{self}/","jwks_uri":"{self}/k"}', 'its OpenID configuration names a different issuer'],
    ['names no issuer', '{"jwks_uri":"{self}/k"}', 'its OpenID configuration names a different issuer'],
    ['names no address', '{"issuer":"{self}"}', 'its OpenID configuration has no valid https URL in jwks_uri'],
    [
      'names an address of another machine over http',
      '{"issuer":"{self}","jwks_uri":"http://10.0.0.1/k"}',
      'its OpenID configuration has no valid https URL in jwks_uri',
    ],
    [
      'names a file',
      '{"issuer":"{self}","jwks_uri":"file:///etc/passwd"}',
      'its OpenID configuration has no valid https URL in jwks_uri',
    ],
    ['is not JSON', '<html>', 'its server did not respond with a JSON object'],
  ])('is not read from a configuration that %s', async (_what, text, fault) => {
    const { ask, asked, faults } = await publishedAs((keys) => ({ [wellKnown]: text, '/k': keys }));
    const answer = await ask();
    expect([answer.status, answer.error.code]).toEqual([503, 'overloaded']);
    expect(answer.error.message).not.toContain(fault);
    expect(faults).toEqual([expect.objectContaining({ message: fault })]);
    expect(asked).toEqual([wellKnown]);
  });
});

describe('a reply with keys', () => {
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
      'has more keys than can be tried',
      () => JSON.stringify({ keys: Array(101).fill({ kty: 'RSA' }) }),
      'its key URL does not return a set of 1 to 100 keys',
    ],
    ['has invalid keys', () => '{"keys":["a"]}', 'its key URL does not return a set of 1 to 100 keys'],
    ['is a list', (keys) => `[${keys}]`, 'its server did not respond with a JSON object'],
  ])('that %s is not taken', async (_what, reply, fault) => {
    const { ask, faults } = await publishedAs((keys) => ({
      [wellKnown]: '{"issuer":"{self}","jwks_uri":"{self}/k"}',
      '/k': reply(keys),
      '/good': keys,
    }));
    expect((await ask()).status).toBe(503);
    expect(faults).toEqual([expect.objectContaining({ message: expect.stringMatching(fault) })]);
  });

  it('can have keys of every kind, of which secret and private ones verify no token', async () => {
    const signer = await startIssuer();
    onTestFinished(signer.stop);
    const [privateJwk] = signer.server.issuer.keys.toJSON(true);
    const odd = [{ kty: 'oct', k: 'AAAA', kid: 'key-1' }, { kty: 'unheard of', kid: 'key-1' }, { kid: 'key-1' }];
    const keys = { good: [...odd, ...signer.server.issuer.keys.toJSON()], private: [...odd, privateJwk], none: odd };
    const server = await startServer(
      Object.fromEntries(Object.entries(keys).map(([name, set]) => [`/${name}`, JSON.stringify({ keys: set })])),
    );
    const statuses: number[] = [];
    for (const name of Object.keys(keys)) {
      await using node = await startWith({ p: { issuer: signer.url, jwksUrl: `${server.url}/${name}`, audience } });
      statuses.push((await whoIs(node, await signer.token())).status);
    }
    expect(statuses).toEqual([200, 401, 401]);
  });

  it('verifies no token with weak keys', async () => {
    const signer = await startIssuer();
    onTestFinished(signer.stop);
    expect(keyOf(signer).asymmetricKeyDetails?.modulusLength).toBe(2048);
    const [jwk] = signer.server.issuer.keys.toJSON();
    const server = await startServer({ '/weak': JSON.stringify({ keys: [{ ...jwk, n: String(jwk?.n).slice(0, 171) }] }) });
    await using node = await startWith({ p: { issuer: signer.url, jwksUrl: `${server.url}/weak`, audience } });
    expect((await whoIs(node, await signer.token())).error.code).toBe('invalid_token');
  });
});

describe('tokens of unknown keys', () => {
  const askMany = async (node: TestService, token: string, times: number) => {
    const answers = await Promise.all(Array.from({ length: times }, () => whoIs(node, token)));
    return new Set(answers.map(({ status }) => status));
  };

  it('bring the provider one request in thirty seconds', async () => {
    await using issuer = await startIssuer();
    const clock = new MovedClock();
    await using node = await startWith({ p: entryOf(issuer) }, {}, { clock });
    const unknown = await issuer.token({}, { kid: 'made-up' });
    expect(await askMany(node, unknown, 20)).toEqual(new Set([401]));
    expect(await askMany(node, unknown, 20)).toEqual(new Set([401]));
    expect(issuer.keysAsked()).toBe(2);
    clock.pass(30_000);
    await askMany(node, unknown, 20);
    expect(issuer.keysAsked()).toBe(3);
    expect((await whoIs(node, await issuer.token())).status).toBe(200);
  });

  it('without the name of a key are tried with new keys too', async () => {
    await using issuer = await startIssuer();
    await using node = await startWith({ p: entryOf(issuer) });
    expect((await whoIs(node, await issuer.token({}, { kid: undefined }))).status).toBe(200);
    await using next = await startIssuer();
    const [key] = next.server.issuer.keys.toJSON(true);
    await issuer.server.issuer.keys.add({ ...key, kid: 'key-1' });
    expect((await whoIs(node, await issuer.token({}, { kid: undefined }))).status).toBe(200);
  });
});

describe('several matching keys', () => {
  it('are tried in turn for a token that names none', async () => {
    await using issuer = await startIssuer();
    for (const kid of ['key-2', 'key-3']) await issuer.server.issuer.keys.generate('RS256', { kid });
    await using node = await startWith({ p: entryOf(issuer) });
    for (let key = 0; key < 3; key += 1) expect((await whoIs(node, await issuer.token({}, { kid: undefined }))).status).toBe(200);
    const expired = await whoIs(node, await issuer.token({ exp: 1 }, { kid: undefined }));
    expect(expired.error.message).toBe('The token has expired. Get a new one.');
  });
});
