import {
  createLocalJWKSet,
  decodeJwt,
  decodeProtectedHeader,
  errors,
  type JSONWebKeySet,
  type JWTPayload,
  type JWTVerifyOptions,
  jwtVerify,
} from 'jose';
import type { HttpClient } from '#base/http/client.ts';
import { isJsonObject } from '#base/json/json.ts';
import type { IdentityProviderEntry } from '#contract/configuration/access.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { createUnauthorizedError } from '#domain/callers/identify.ts';
import { fetchObject, IssuerError, isIssuerEndpoint, readOpenIdConfiguration } from './openid-configuration.ts';
import type { KeySet, ProviderKeys } from './provider-keys.ts';

const clockToleranceSeconds = 30;
/** Maximum value of a Date, in seconds. */
const maxSeconds = 8_640_000_000_000;
/** Asymmetric algorithms only: with a public key, a party that can verify tokens cannot create them. */
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'];
/**
 * Accepted values of `typ`: `JWT`, or an access token such as `at+jwt`, also with the prefix of a vendor. Types such as logout
 * tokens and security events are rejected.
 */
const accessTypePattern = /^(application\/)?(([\w.]+-)*at\+)?jwt$/i;

/** Header fields and issuer of a token before verification. */
export interface UnverifiedToken {
  readonly issuer: string;
  readonly kid: string | undefined;
}

/** Expected claims. */
export interface ExpectedClaims {
  readonly issuer: string;
  readonly audience?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly nowMs: number;
}

export type VerifiedClaims = JWTPayload & { readonly exp: number };

/** Returns the unverified fields of a token, which determine the keys for verification. Throws `invalid_token`. */
export function readToken(token: string): UnverifiedToken {
  const { alg, typ, kid, iss } = decodeToken(token);
  if (typeof alg !== 'string' || !algorithms.includes(alg))
    throw createUnauthorizedError(
      'invalid_token',
      'The token has an unsupported signature algorithm. Use RS, PS, or ES with 256, 384, or 512 bits, or EdDSA.',
    );
  if (typ !== undefined && (typeof typ !== 'string' || !accessTypePattern.test(typ)))
    throw createUnauthorizedError('invalid_token', 'The token has a type that gives no access. Send an access token.');
  if (typeof iss !== 'string') throw createUnauthorizedError('invalid_token', 'The token has no issuer.');
  return { issuer: iss, kid: typeof kid === 'string' ? kid : undefined };
}

/** Returns the unverified issuer of a token, or undefined if it has none. */
export function findIssuer(token: string): string | undefined {
  try {
    return decodeJwt(token).iss;
  } catch {
    return undefined;
  }
}

/**
 * Returns the claims of a token after verification of signature and claims. Throws `invalid_token`, or `overloaded` if the keys
 * are not available.
 */
export async function verifyJwt(
  { token, kid }: { readonly token: string; readonly kid: string | undefined },
  providerKeys: ProviderKeys,
  { issuer, audience, nowMs }: ExpectedClaims,
): Promise<VerifiedClaims> {
  const options: JWTVerifyOptions = {
    algorithms,
    issuer,
    ...(audience !== undefined && { audience }),
    requiredClaims: ['exp'],
    clockTolerance: clockToleranceSeconds,
    currentDate: new Date(nowMs),
  };
  const keys = await providerKeys.current();
  try {
    return requireValidTimes(await verifyWithMatchingKeys(token, keys, options));
  } catch (error) {
    const newer = lacksKey(error, kid) ? await providerKeys.newerThan(keys) : undefined;
    if (newer === undefined) throw toRejection(error);
    return requireValidTimes(
      await verifyWithMatchingKeys(token, newer, options).catch((retryError: unknown) => {
        throw toRejection(retryError);
      }),
    );
  }
}

/**
 * Requires valid times in `exp`, `nbf`, and `iat`. A number that is too large for JSON parses as infinity, so that the token
 * would never expire.
 */
function requireValidTimes(claims: VerifiedClaims): VerifiedClaims {
  for (const name of ['exp', 'nbf', 'iat'] as const) {
    const { [name]: seconds } = claims;
    if (seconds !== undefined && !(Math.abs(seconds) <= maxSeconds))
      throw createUnauthorizedError('invalid_token', `The token has a claim ${name} that is not a valid time.`);
  }
  return claims;
}

function decodeToken(token: string): Readonly<Record<'alg' | 'typ' | 'kid' | 'iss', unknown>> {
  try {
    const { alg, typ, kid } = decodeProtectedHeader(token);
    return { alg, typ, kid, iss: decodeJwt(token).iss };
  } catch {
    throw createUnauthorizedError(
      'invalid_token',
      'The token is encrypted, or does not consist of a header, claims, and a signature.',
    );
  }
}

/** Verifies a token. Tries every key of the right type if the token has no key ID. */
async function verifyWithMatchingKeys(token: string, keys: KeySet, options: JWTVerifyOptions): Promise<VerifiedClaims> {
  const result = await jwtVerify<{ exp: number }>(token, keys, options).catch((error: unknown) => {
    if (error instanceof errors.JWKSMultipleMatchingKeys) return error;
    throw error;
  });
  if (!(result instanceof Error)) return result.payload;
  let last: unknown = result;
  for await (const key of result) {
    try {
      return (await jwtVerify<{ exp: number }>(token, key, options)).payload;
    } catch (error) {
      if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error;
      last = error;
    }
  }
  throw last;
}

/** Returns whether newer keys of the issuer may include the key of the token. */
function lacksKey(error: unknown, kid: string | undefined): boolean {
  if (error instanceof errors.JWKSNoMatchingKey) return true;
  return error instanceof errors.JWSSignatureVerificationFailed && kid === undefined;
}

/** Returns the error for the client. Neither its message nor its cause contains a part of the token. */
function toRejection(error: unknown): ParleyError {
  if (error instanceof ParleyError) return error;
  if (error instanceof errors.JWTExpired)
    return createUnauthorizedError('invalid_token', 'The token has expired. Get a new one.');
  if (error instanceof errors.JWKSNoMatchingKey)
    return createUnauthorizedError('invalid_token', 'The token is signed with a key that its issuer does not publish.');
  if (error instanceof errors.JWSSignatureVerificationFailed)
    return createUnauthorizedError('invalid_token', 'The token has an invalid signature.');
  if (error instanceof errors.JWTClaimValidationFailed)
    return createUnauthorizedError('invalid_token', `The token ${describeClaimError(error)}.`);
  return createUnauthorizedError('invalid_token', 'The token cannot be verified with the keys of its issuer.');
}

function describeClaimError({ claim, reason }: errors.JWTClaimValidationFailed): string {
  if (reason === 'missing') return `has no claim ${claim}`;
  if (claim === 'aud') return 'was issued for a different audience';
  if (claim === 'nbf' && reason === 'check_failed') return 'is not yet valid';
  return `has an invalid claim ${claim}`;
}

const fetchTimeoutMs = 10_000;
/** Maximum number of keys. A token without a key ID is tried with each of them. */
const maxKeys = 100;

/**
 * Fetches the public keys of an issuer from `jwksUrl`. By default, their URL comes from the issuer's OpenID configuration. Throws
 * `IssuerError` or `HttpError`.
 */
export async function fetchKeys(
  http: HttpClient,
  { issuer, jwksUrl }: Pick<IdentityProviderEntry, 'issuer' | 'jwksUrl'>,
): Promise<KeySet> {
  const signal = AbortSignal.timeout(fetchTimeoutMs);
  const url = jwksUrl ?? (await discoverKeysUrl(http, issuer, signal));
  const { keys } = await fetchObject(http, url, signal);
  const isKeySet = Array.isArray(keys) && keys.length > 0 && keys.length <= maxKeys && keys.every(isJsonObject);
  if (!isKeySet) throw new IssuerError(`its key URL does not return a set of 1 to ${maxKeys} keys`);
  return createLocalJWKSet({ keys } as JSONWebKeySet);
}

async function discoverKeysUrl(http: HttpClient, issuer: string, signal: AbortSignal): Promise<string> {
  const { jwks_uri: url } = await readOpenIdConfiguration(http, issuer, signal);
  if (!isIssuerEndpoint(issuer, url)) throw new IssuerError('its OpenID configuration has no valid https URL in jwks_uri');
  return url;
}
