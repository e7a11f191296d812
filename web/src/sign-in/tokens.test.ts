import { describe, expect, it } from 'vitest';
import type { ReadyProvider } from './sign-in-storage.ts';
import { decodeClaims, toTokens } from './tokens.ts';

const provider: ReadyProvider = {
  ...{ name: 'corporate', displayName: 'Corp', issuer: 'https://id.example', clientId: 'page', scopes: ['openid'] },
  ...{ token: 'access_token', parameters: {}, sendsIssuer: false },
  endpoints: { authorization: 'https://id.example/a', token: 'https://id.example/t' },
};
const idTokenProvider: ReadyProvider = { ...provider, token: 'id_token' };

function createToken(claims: object): string {
  const payload = btoa(String.fromCharCode(...new TextEncoder().encode(JSON.stringify(claims))));
  return `e30.${payload.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')}.c2ln`;
}

describe('toTokens', () => {
  it.each<[title: string, body: object, provider: ReadyProvider, renewAtMs: number | null]>([
    ['half a minute before the expiry', { access_token: 'a', expires_in: 600 }, provider, 571_000],
    ['after three quarters of a short lifetime', { access_token: 'a', expires_in: 8 }, provider, 7_000],
    ['from a lifetime that is a string', { access_token: 'a', expires_in: '600' }, provider, 571_000],
    ['from the claims if the response has no lifetime', { access_token: createToken({ iat: 50, exp: 650 }) }, provider, 571_000],
    ['never if the lifetime is unknown', { access_token: 'opaque' }, provider, null],
    ['never if the lifetime is invalid', { access_token: 'a', expires_in: 'soon' }, provider, null],
    ['never if the lifetime is 0', { access_token: 'a', expires_in: 0 }, provider, null],
    [
      'from the claims of the token for the service',
      { id_token: createToken({ iat: 0, exp: 8 }), expires_in: 600 },
      idTokenProvider,
      7_000,
    ],
  ])('sets the renewal time: %s', (_title, body, tokenProvider, renewAtMs) => {
    expect(toTokens({ ...body }, tokenProvider, 1_000).renewAtMs).toBe(renewAtMs);
  });

  it('returns the token for the service, the refresh token, and the ID token', () => {
    const body = { access_token: 'a', refresh_token: 'r', id_token: 'i', token_type: 'Bearer' };
    expect(toTokens(body, provider, 0)).toMatchObject({ serviceToken: 'a', refresh: 'r', id: 'i' });
    expect(toTokens(body, idTokenProvider, 0)).toMatchObject({ serviceToken: 'i', refresh: 'r', id: 'i' });
  });

  it.each([{}, { access_token: '' }, { access_token: 7 }, { id_token: 'i' }])(
    'throws if the token for the service is missing: %j',
    (body) => {
      expect(() => toTokens(body, provider, 0)).toThrow(expect.objectContaining({ problem: { kind: 'unusable', name: 'Corp' } }));
    },
  );
});

describe('decodeClaims', () => {
  it('decodes a payload in UTF-8', () => {
    expect(decodeClaims(createToken({ sub: 'Ådå ✓', aud: ['a'] }))).toEqual({ sub: 'Ådå ✓', aud: ['a'] });
  });

  it.each(['', 'opaque', 'a.b', 'a.%%.c', `a.${btoa('[1]')}.c`, `a.${btoa('{"__proto__":1}')}.c`])(
    'returns no claims for %j',
    (token) => {
      expect(decodeClaims(token)).toEqual({});
    },
  );
});
