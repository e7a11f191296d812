import { createPublicKey } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callerKey, type TestService } from '#test/start-service.ts';
import { decodeClaims, encodePart, forge, generateForeignKey, getSigningKey, hmac, rsa, splitToken, unsigned } from './forge.ts';
import {
  audience,
  createProviderEntry,
  getRejection,
  type Issuer,
  requestUserInfo,
  startIssuer,
  startWithProviders,
} from './support.ts';

let issuer: Issuer;
let otherIssuer: Issuer;
let service: TestService;
let validToken: string;
let claims: Record<string, unknown>;
const header = { alg: 'RS256', typ: 'JWT', kid: 'key-1' };
const foreignKey = generateForeignKey();
const now = (): number => Math.floor(Date.now() / 1000);

beforeAll(async () => {
  [issuer, otherIssuer] = await Promise.all([startIssuer(), startIssuer()]);
  service = await startWithProviders({ first: createProviderEntry(issuer), second: createProviderEntry(otherIssuer) });
  validToken = await issuer.token();
  claims = decodeClaims(validToken);
});

afterAll(async () => {
  await service.close();
  await Promise.all([issuer.stop(), otherIssuer.stop()]);
});

type Forgery = readonly [title: string, token: () => string | Promise<string>, message: string | RegExp];
const wrongSignature = 'The token has an invalid signature.';
const unknownKey = 'The token is signed with a key that its issuer does not publish.';
const unsupportedAlgorithm =
  'The token has an unsupported signature algorithm. Use RS, PS, or ES with 256, 384, or 512 bits, or EdDSA.';
const malformed = 'The token is encrypted, or does not consist of a header, claims, and a signature.';
const wrongType = 'The token has a type that gives no access. Send an access token.';

const signatureForgeries: readonly Forgery[] = [
  ['is not signed', () => forge({ ...header, alg: 'none' }, claims, unsigned), unsupportedAlgorithm],
  [
    'is not signed and has another spelling of the algorithm none',
    () => forge({ ...header, alg: 'nOnE' }, claims, unsigned),
    unsupportedAlgorithm,
  ],
  [
    'has the algorithm none and a signature',
    () => forge({ ...header, alg: 'none' }, claims, rsa(getSigningKey(issuer))),
    unsupportedAlgorithm,
  ],
  ['has no algorithm', () => forge({ kid: 'key-1' }, claims, rsa(getSigningKey(issuer))), unsupportedAlgorithm],
  [
    'has several algorithms',
    () => forge({ ...header, alg: ['RS256'] }, claims, rsa(getSigningKey(issuer))),
    unsupportedAlgorithm,
  ],
  ['has no signature', () => validToken.slice(0, validToken.lastIndexOf('.') + 1), wrongSignature],
  ['has a shorter signature', () => validToken.slice(0, -4), wrongSignature],
  ['has a modified payload', () => withPayload(validToken, { ...claims, sub: 'root' }), wrongSignature],
  [
    'has a modified header',
    async () => [encodePart({ ...header, x: 1 }), ...splitToken(validToken).slice(1)].join('.'),
    wrongSignature,
  ],
  [
    'has the signature of another token',
    async () => [...splitToken(validToken).slice(0, 2), splitToken(await issuer.token({ sub: 'bob' }))[2]].join('.'),
    wrongSignature,
  ],
  ['is signed with a foreign key', () => forge(header, claims, rsa(foreignKey.key)), wrongSignature],
  ['is signed with the key of another provider', () => forge(header, claims, rsa(getSigningKey(otherIssuer))), wrongSignature],
  ['is signed with an unknown key', () => forge({ ...header, kid: 'key-2' }, claims, rsa(foreignKey.key)), unknownKey],
  ['is signed with a foreign key and has no key ID', () => forge({ alg: 'RS256' }, claims, rsa(foreignKey.key)), wrongSignature],
  [
    'has the algorithm PS256 and an RS256 signature',
    () => forge({ ...header, alg: 'PS256' }, claims, rsa(getSigningKey(issuer))),
    unknownKey,
  ],
];

const confusionForgeries: readonly Forgery[] = [
  ['the public key as PEM', () => forge({ ...header, alg: 'HS256' }, claims, hmac(getPublicPem())), unsupportedAlgorithm],
  [
    'the public key as DER',
    () =>
      forge(
        { ...header, alg: 'HS256' },
        claims,
        hmac(createPublicKey(getSigningKey(issuer)).export({ format: 'der', type: 'spki' })),
      ),
    unsupportedAlgorithm,
  ],
  [
    'the public key as JWK',
    () => forge({ ...header, alg: 'HS256' }, claims, hmac(JSON.stringify(getPublicJwk()))),
    unsupportedAlgorithm,
  ],
  ['the public modulus', () => forge({ ...header, alg: 'HS256' }, claims, hmac(String(getPublicJwk()?.n))), unsupportedAlgorithm],
  ['an empty key', () => forge({ ...header, alg: 'HS256' }, claims, hmac('')), unsupportedAlgorithm],
];

const headerForgeries: readonly Forgery[] = [
  ['jwk', () => forge({ ...header, kid: 'mine', jwk: foreignKey.jwk }, claims, rsa(foreignKey.key)), unknownKey],
  ['jwk and the ID of a known key', () => forge({ ...header, jwk: foreignKey.jwk }, claims, rsa(foreignKey.key)), wrongSignature],
  ['jku', () => forge({ ...header, kid: 'mine', jku: `${otherIssuer.url}/mine` }, claims, rsa(foreignKey.key)), unknownKey],
  ['x5u', () => forge({ ...header, kid: 'mine', x5u: `${otherIssuer.url}/mine` }, claims, rsa(foreignKey.key)), unknownKey],
  ['x5c', () => forge({ ...header, kid: 'mine', x5c: ['MIIB'] }, claims, rsa(foreignKey.key)), unknownKey],
  ['kid that is a path', () => forge({ ...header, kid: '../../../dev/null' }, claims, rsa(foreignKey.key)), unknownKey],
  ['kid that is a URL', () => forge({ ...header, kid: `${otherIssuer.url}/mine` }, claims, rsa(foreignKey.key)), unknownKey],
  ['kid __proto__', () => forge({ ...header, kid: '__proto__' }, claims, rsa(foreignKey.key)), unknownKey],
  ['kid that is SQL', () => forge({ ...header, kid: "' OR 1=1 --" }, claims, rsa(foreignKey.key)), unknownKey],
  ['kid that is not a string', () => forge({ ...header, kid: { a: 1 } }, claims, rsa(getSigningKey(issuer))), /^The token /],
  [
    'crit that names an unknown parameter',
    () => forge({ ...header, crit: ['exotic'], exotic: true }, claims, rsa(getSigningKey(issuer))),
    'The token cannot be verified with the keys of its issuer.',
  ],
  ['b64: false', () => forge({ ...header, b64: false, crit: ['b64'] }, claims, rsa(getSigningKey(issuer))), /^The token /],
  ['typ of a logout token', () => issuer.token({}, { typ: 'logout+jwt' }), wrongType],
  ['typ of a security event token', () => issuer.token({}, { typ: 'secevent+jwt' }), wrongType],
  ['typ of a DPoP proof', () => issuer.token({}, { typ: 'dpop+jwt' }), wrongType],
  ['typ that is not a string', () => forge({ ...header, typ: ['JWT'] }, claims, rsa(getSigningKey(issuer))), wrongType],
];

const claimForgeries: readonly Forgery[] = [
  [
    'another issuer',
    () => issuer.token({ iss: 'https://evil.example' }),
    'The issuer of the token is not a configured identity provider.',
  ],
  [
    'the issuer with an additional slash',
    () => issuer.token({ iss: `${issuer.url}/` }),
    /^The issuer of the token is not a configured /,
  ],
  [
    'the issuer in uppercase',
    () => issuer.token({ iss: issuer.url.toUpperCase() }),
    /^The issuer of the token is not a configured /,
  ],
  ['the issuer __proto__', () => issuer.token({ iss: '__proto__' }), /^The issuer of the token is not a configured /],
  ['several issuers', () => issuer.token({ iss: [issuer.url, otherIssuer.url] }), 'The token has no issuer.'],
  ['no issuer', () => issuer.token({ iss: undefined }), 'The token has no issuer.'],
  ['the issuer of another provider', () => issuer.token({ iss: otherIssuer.url }), wrongSignature],
  [
    'another audience',
    () => issuer.token({ aud: 'https://elsewhere.example' }),
    'The token was issued for a different audience.',
  ],
  ['other audiences', () => issuer.token({ aud: ['a', 'b'] }), 'The token was issued for a different audience.'],
  [
    'a prefix of the audience',
    () => issuer.token({ aud: audience.slice(0, -1) }),
    'The token was issued for a different audience.',
  ],
  ['no audience', () => issuer.token({ aud: undefined }), 'The token has no claim aud.'],
  ['an expiry in the past', () => issuer.token({ exp: now() - 31 }), 'The token has expired. Get a new one.'],
  ...(['exp', 'nbf', 'iat'] as const).flatMap((name) =>
    ['1e999', '-1e999', '1e300'].map(
      (number): Forgery => [
        `${name} of ${number}`,
        () => {
          const payload = JSON.stringify({ ...claims, [name]: 'here' }).replace('"here"', number);
          return forge(header, payload, rsa(getSigningKey(issuer)));
        },
        new RegExp(`claim ${name} that is not a valid time|expired|not yet valid`),
      ],
    ),
  ),
  ['no expiry', () => issuer.token({ exp: undefined }), 'The token has no claim exp.'],
  ['an expiry that is a string', () => issuer.token({ exp: String(now() + 60) }), 'The token has an invalid claim exp.'],
  ['a null expiry', () => issuer.token({ exp: null }), 'The token has an invalid claim exp.'],
  ['nbf in the future', () => issuer.token({ nbf: now() + 60 }), 'The token is not yet valid.'],
  ['nbf that is a string', () => issuer.token({ nbf: 'now' }), 'The token has an invalid claim nbf.'],
  ['no user', () => issuer.token({ sub: undefined }), 'The token has no valid user ID: its claim sub is missing or invalid.'],
  ['an empty user', () => issuer.token({ sub: '' }), /^The token has no valid user ID/],
  ['a user that is not a string', () => issuer.token({ sub: ['ada'] }), /^The token has no valid user ID/],
  ['a user with a line break', () => issuer.token({ sub: 'ada\nroot' }), /^The token has no valid user ID/],
  ['a user with a lone surrogate', () => issuer.token({ sub: 'ada\ud800' }), /^The token has no valid user ID/],
];

const malformedTokens: readonly Forgery[] = [
  ['empty parts', () => 'a..', malformed],
  ['a header that is not JSON', () => forge('{', claims, rsa(getSigningKey(issuer))), malformed],
  ['a header that is a list', () => forge([], claims, rsa(getSigningKey(issuer))), malformed],
  ['claims that are not JSON', () => forge(header, 'claims', rsa(getSigningKey(issuer))), malformed],
  ['claims that are a list', () => forge(header, [claims], rsa(getSigningKey(issuer))), malformed],
  ['another token as its claims', () => forge({ ...header, cty: 'JWT' }, validToken, rsa(getSigningKey(issuer))), malformed],
  ['five parts like an encrypted token', () => `${encodePart({ alg: 'dir', enc: 'A256GCM' })}..aaaa.bbbb.cccc`, malformed],
];

describe.each([
  ['token that', signatureForgeries],
  ['token signed with HMAC by', confusionForgeries],
  ['token with the header', headerForgeries],
  ['token with', claimForgeries],
  ['malformed token with', malformedTokens],
])('%s', (_group, forgeries) => {
  it.each(forgeries)('%s is rejected', async (_what, createToken, message) => {
    const token = await createToken();
    const [status, code, errorMessage] = await getRejection(service, token);
    expect([status, code]).toEqual([401, 'invalid_token']);
    if (typeof message === 'string') expect(errorMessage).toBe(message);
    else expect(errorMessage).toMatch(message);
    for (const part of token.split('.')) if (part.length > 8) expect(errorMessage).not.toContain(part);
  });
});

describe('invalid token', () => {
  it('causes a challenge and an error in the format of the API', async () => {
    const answer = await service.chat(
      'm',
      { messages: [] },
      { 'api-key': '', authorization: `Bearer ${validToken.slice(0, -4)}` },
    );
    expect(answer.headers['www-authenticate']).toBe('Bearer error="invalid_token"');
    expect(answer.error).toEqual({ type: 'authentication_error', code: 'invalid_token', param: null, message: wrongSignature });
  });

  it('causes no request to addresses in the token', async () => {
    const requestedUrls: string[] = [];
    otherIssuer.server.service.addRoute('GET', '/mine', ({ url }, response) => {
      requestedUrls.push(url ?? '');
      response.end('{}');
    });
    otherIssuer.server.service.on('beforeWellKnownOpenIdConfiguration', (_response, { url }) => void requestedUrls.push(url));
    for (const name of ['jku', 'x5u', 'kid', 'iss'])
      await requestUserInfo(
        service,
        forge(
          { ...header, [name]: `${otherIssuer.url}/mine` },
          { ...claims, iss: `${otherIssuer.url}/mine` },
          rsa(foreignKey.key),
        ),
      );
    expect(requestedUrls).toEqual([]);
  });

  it('is rejected even if a similar token was accepted before', async () => {
    expect((await requestUserInfo(service, validToken)).status).toBe(200);
    // Each of these tokens shares a long prefix with the accepted one.
    for (const token of [`${validToken}A`, `${validToken.slice(0, -1)}`, withPayload(validToken, { ...claims, sub: 'root' })])
      expect((await requestUserInfo(service, token)).status).toBe(401);
  });

  it.each([
    ['contains a space', () => validToken.replace('.', '. ')],
    ['contains padding', () => validToken.replaceAll('.', '=.')],
    ['is in quotes', () => `"${validToken}"`],
    ['is repeated', () => `${validToken},${validToken}`],
    ['has only two parts', () => validToken.slice(0, validToken.lastIndexOf('.'))],
    ['has a fourth part', () => `${validToken}.AAAA`],
  ])('is treated as an unknown API key if it %s', async (_form, write) => {
    expect((await getRejection(service, write())).slice(0, 2)).toEqual([401, 'invalid_api_key']);
  });

  it('is rejected if it is longer than 16384 characters', async () => {
    const [head, , signature] = splitToken(validToken);
    const [, code, message] = await service.app
      .inject({ url: '/v1/user/info', headers: { authorization: `Bearer ${head}.${'A'.repeat(16_384)}.${signature}` } })
      .then((answer) => ['', answer.json().error.code, answer.json().error.message]);
    expect([code, message]).toEqual(['invalid_token', 'The token is longer than 16384 characters.']);
  });
});

describe('valid token', () => {
  it.each([
    ['is unchanged', () => validToken],
    ['has the type of RFC 9068', () => issuer.token({}, { typ: 'at+jwt' })],
    ['has a full media type as its type', () => issuer.token({}, { typ: 'application/at+JWT' })],
    ['has a vendor type', () => issuer.token({}, { typ: 'application/okta-internal-at+jwt' })],
    ['has no type', () => forge({ alg: 'RS256', kid: 'key-1' }, claims, rsa(getSigningKey(issuer)))],
    ['has no key ID', () => forge({ alg: 'RS256' }, claims, rsa(getSigningKey(issuer)))],
    ['has several audiences', () => issuer.token({ aud: ['https://elsewhere.example', audience] })],
    ['expired less than 30 s ago', () => issuer.token({ exp: now() - 20 })],
    ['becomes valid in less than 30 s', () => issuer.token({ nbf: now() + 20 })],
  ])('is accepted if it %s', async (_what, make) => {
    expect((await requestUserInfo(service, await make())).json).toEqual({ user: 'ada', project: 'first', roles: ['default'] });
  });

  it('uses the last value of a duplicate claim', async () => {
    const payload = JSON.stringify(claims).replace('{', '{"sub":"root",');
    expect((await requestUserInfo(service, forge(header, payload, rsa(getSigningKey(issuer))))).json).toMatchObject({
      user: 'ada',
    });
  });

  it.each(['bearer', 'BEARER', 'Bearer  '])('is accepted with the scheme %j', async (scheme) => {
    const headers = { authorization: `${scheme} ${validToken}` };
    expect((await service.sendRequest({ method: 'GET', path: '/v1/user/info', headers })).status).toBe(200);
  });

  it.each(['RS384', 'PS256', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'])('can be signed with %s', async (algorithm) => {
    await using own = await startIssuer(algorithm);
    await using node = await startWithProviders({ own: createProviderEntry(own) });
    expect((await requestUserInfo(node, await own.token())).json).toMatchObject({ user: 'ada' });
  });

  it('does not affect the use of API keys', async () => {
    expect((await requestUserInfo(service, callerKey)).json).toEqual({ user: 'key:test', project: 'test', roles: ['default'] });
    await using node = await startWithProviders(
      { first: createProviderEntry(issuer) },
      { keys: { 'a.b.c': { project: 'dotted' } } },
    );
    expect((await requestUserInfo(node, 'a.b.c')).json).toMatchObject({ user: 'key:dotted' });
  });
});

function withPayload(token: string, payload: object): string {
  const [head, , signature] = splitToken(token);
  return [head, encodePart(payload), signature].join('.');
}

function getPublicPem(): string {
  return createPublicKey(getSigningKey(issuer)).export({ format: 'pem', type: 'spki' }).toString();
}

function getPublicJwk() {
  return issuer.server.issuer.keys.toJSON()[0];
}
