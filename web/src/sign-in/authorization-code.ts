import type { SignInWay } from '#contract/page/sign-in-way.ts';
import type { Arrival } from './arrival.ts';
import { type Begun, type KeptSignIn, keepBegun, type ReadyWay } from './kept.ts';
import { SignInFault } from './sign-in-fault.ts';
import { claimsOf, requestTokens } from './tokens.ts';

/** Begins to sign in; gives the address where the browser goes for that. Throws SignInFault. */
export async function beginSignIn(way: SignInWay): Promise<string> {
  const { displayName: name, endpoints } = way;
  if (endpoints === null || !/^https?:/.test(endpoints.authorization)) throw new SignInFault({ kind: 'unavailable', name });
  if (!isSecureContext) throw new SignInFault({ kind: 'insecure', name });
  const begun: Begun = {
    way: { ...way, endpoints },
    ...{ state: randomText(), nonce: randomText(), verifier: randomText() },
    redirectUri: new URL('./', location.href).href,
    place: location.hash,
  };
  const address = await authorizationAddress(begun);
  keepBegun(begun);
  return address;
}

/** Exchanges what a provider sent the browser back with for tokens. Throws SignInFault. */
export async function redeem({ query, begun }: Arrival): Promise<KeptSignIn> {
  if (begun === undefined || query.get('state') !== begun.state) throw new SignInFault({ kind: 'stale', name: '' });
  const { way, verifier, redirectUri } = begun;
  const { displayName: name } = way;
  const issuer = query.get('iss');
  if (issuer === null ? way.sendsIssuer : issuer !== way.issuer) throw new SignInFault({ kind: 'foreign', name });
  const error = query.get('error');
  if (error !== null) throw new SignInFault({ kind: 'refused', name, code: error, detail: query.get('error_description') ?? '' });
  const tokens = await requestTokens(way, {
    grant_type: 'authorization_code',
    code: query.get('code') ?? '',
    redirect_uri: redirectUri,
    code_verifier: verifier,
  });
  if (tokens.id !== undefined && !isOurs(tokens.id, begun)) throw new SignInFault({ kind: 'unusable', name });
  return { way, tokens };
}

/** Where the browser goes to sign in; what the configuration adds never takes the place of what the page says. */
async function authorizationAddress({ way, state, nonce, verifier, redirectUri }: Begun): Promise<string> {
  const url = new URL(way.endpoints.authorization);
  const parameters = {
    ...way.parameters,
    response_type: 'code',
    client_id: way.clientId,
    redirect_uri: redirectUri,
    scope: way.scopes.join(' '),
    ...{ state, nonce },
    code_challenge: await challengeOf(verifier),
    code_challenge_method: 'S256',
  };
  for (const [parameter, value] of Object.entries(parameters)) url.searchParams.set(parameter, value);
  return url.href;
}

/** Whether an id_token was made for this sign-in. It came from the provider itself; the service verifies what it is sent. */
function isOurs(idToken: string, { way, nonce }: { readonly way: ReadyWay; readonly nonce: string }): boolean {
  const { iss, aud, nonce: named } = claimsOf(idToken);
  return iss === way.issuer && [aud].flat().includes(way.clientId) && named === nonce;
}

/** RFC 7636, 4.2. */
export async function challengeOf(verifier: string): Promise<string> {
  return toBase64Url(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))));
}

function randomText(): string {
  return toBase64Url(crypto.getRandomValues(new Uint8Array(32)));
}

function toBase64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}
