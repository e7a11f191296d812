import { createVerify, generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { AccountToken } from './account-token.ts';

const { privateKey, publicKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
});
const account = { kind: 'account', clientEmail: 'a@b', privateKey, projectId: 'p', tokenUri: 'https://token.example/t' } as const;
const startMs = 1_700_000_000_000;

/** A token issuer that returns `t0`, `t1`, …, or the given responses. */
function startIssuer(
  respond: (index: number) => Response = (index) => Response.json({ access_token: `t${index}`, expires_in: 3600 }),
) {
  const bodies: URLSearchParams[] = [];
  const clock = { ms: startMs, epochMs: () => clock.ms };
  const fetch = async (url: string | URL, init?: RequestInit): Promise<Response> => {
    expect(String(url)).toBe(account.tokenUri);
    bodies.push(new URLSearchParams(String(init?.body)));
    return respond(bodies.length - 1);
  };
  return { bodies, clock, fetch };
}

const decodePart = (assertion: string, index: number): unknown =>
  JSON.parse(Buffer.from(assertion.split('.')[index] ?? '', 'base64url').toString());

describe('AccountToken', () => {
  it('requests a token with a signed claim', async () => {
    const issuer = startIssuer();
    const token = new AccountToken(account, issuer);
    expect([token.lastToken, await token.getCurrent(), token.lastToken]).toEqual([undefined, 't0', 't0']);
    const assertion = issuer.bodies[0]?.get('assertion') ?? '';
    expect(decodePart(assertion, 0)).toEqual({ alg: 'RS256', typ: 'JWT' });
    expect(decodePart(assertion, 1)).toEqual({
      ...{ iss: 'a@b', scope: 'https://www.googleapis.com/auth/cloud-platform', aud: account.tokenUri },
      ...{ iat: startMs / 1000, exp: startMs / 1000 + 3600 },
    });
    const [head, claims, signature = ''] = assertion.split('.');
    expect(createVerify('RSA-SHA256').update(`${head}.${claims}`).verify(publicKey, signature, 'base64url')).toBe(true);
  });

  it('sends one request for concurrent callers, and requests a new token a minute before the token expires', async () => {
    const issuer = startIssuer();
    const token = new AccountToken(account, issuer);
    expect(await Promise.all([token.getCurrent(), token.getCurrent()])).toEqual(['t0', 't0']);
    issuer.clock.ms = startMs + 3_539_000;
    expect(await token.getCurrent()).toBe('t0');
    issuer.clock.ms = startMs + 3_541_000;
    expect(await token.getCurrent()).toBe('t1');
  });

  it.each([
    [Response.json({ error: 'invalid_grant' }, { status: 400 }), { status: 401 }],
    [new Response('', { status: 429 }), { status: 429 }],
    [new Response('', { status: 503 }), { status: 503 }],
    [Response.json({}), { kind: 'broken' }],
    [new Response('oops'), { kind: 'broken' }],
  ])('throws the error of the issuer and requests a token again (%#)', async (reply, expected) => {
    const issuer = startIssuer((index) => (index === 0 ? reply : Response.json({ access_token: 't', expires_in: 60 })));
    const token = new AccountToken(account, issuer);
    await expect(token.getCurrent()).rejects.toMatchObject({ name: 'UpstreamError', ...expected });
    expect(await token.getCurrent()).toBe('t');
  });

  it('reports an invalid private key like a rejected one', async () => {
    const token = new AccountToken({ ...account, privateKey: 'PRIVATE KEY' }, startIssuer());
    await expect(token.getCurrent()).rejects.toMatchObject({ status: 401 });
  });
});
