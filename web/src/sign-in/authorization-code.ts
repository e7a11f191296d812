import type { SignInOption } from '#contract/page/sign-in-option.ts';
import { SignInError } from './sign-in-error.ts';
import {
  type PendingSignIn,
  type ProviderResponse,
  type ReadyProvider,
  type StoredSignIn,
  storePending,
} from './sign-in-storage.ts';
import { decodeClaims, requestTokens } from './tokens.ts';

/** Starts a sign-in. Returns the URL of the provider. Throws `SignInError`. */
export async function startSignIn(provider: SignInOption, isPersistent = false): Promise<string> {
  const { displayName: name, endpoints } = provider;
  if (endpoints === null || !/^https?:/.test(endpoints.authorization)) throw new SignInError({ kind: 'unavailable', name });
  if (!isSecureContext) throw new SignInError({ kind: 'insecure', name });
  const pending: PendingSignIn = {
    provider: { ...provider, endpoints },
    ...{ state: randomText(), nonce: randomText(), verifier: randomText() },
    isPersistent,
    redirectUri: new URL('./', location.href).href,
    returnHash: location.hash,
  };
  const url = await buildAuthorizationUrl(pending);
  storePending(pending);
  return url;
}

/** Exchanges the response of a provider for tokens. Throws `SignInError`. */
export async function redeem({ query, pending }: ProviderResponse): Promise<StoredSignIn> {
  if (pending === undefined || query.get('state') !== pending.state) throw new SignInError({ kind: 'stale', name: '' });
  const { provider, verifier, redirectUri, isPersistent = false } = pending;
  const { displayName: name } = provider;
  const issuer = query.get('iss');
  if (issuer === null ? provider.sendsIssuer : issuer !== provider.issuer) throw new SignInError({ kind: 'foreign', name });
  const error = query.get('error');
  if (error !== null)
    throw new SignInError({ kind: 'rejected', name, code: error, detail: query.get('error_description') ?? '' });
  const tokens = await requestTokens(provider, {
    grant_type: 'authorization_code',
    code: query.get('code') ?? '',
    redirect_uri: redirectUri,
    code_verifier: verifier,
  });
  if (tokens.id !== undefined && !isForSignIn(tokens.id, pending)) throw new SignInError({ kind: 'unusable', name });
  return { provider, tokens, isPersistent };
}

/** Builds the authorization URL. Parameters of the configuration never replace those of the page. */
async function buildAuthorizationUrl({ provider, state, nonce, verifier, redirectUri }: PendingSignIn): Promise<string> {
  const url = new URL(provider.endpoints.authorization);
  const parameters = {
    ...provider.parameters,
    response_type: 'code',
    client_id: provider.clientId,
    redirect_uri: redirectUri,
    scope: provider.scopes.join(' '),
    ...{ state, nonce },
    code_challenge: await computeChallenge(verifier),
    code_challenge_method: 'S256',
  };
  for (const [parameter, value] of Object.entries(parameters)) url.searchParams.set(parameter, value);
  return url.href;
}

/**
 * Returns whether an id_token was issued for this sign-in. Does not verify its signature, because the page receives it directly
 * from the provider. The service verifies the tokens of requests.
 */
function isForSignIn(
  idToken: string,
  { provider, nonce }: { readonly provider: ReadyProvider; readonly nonce: string },
): boolean {
  const { iss, aud, nonce: tokenNonce } = decodeClaims(idToken);
  return iss === provider.issuer && [aud].flat().includes(provider.clientId) && tokenNonce === nonce;
}

/** Computes the code challenge (RFC 7636, 4.2). */
export async function computeChallenge(verifier: string): Promise<string> {
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
