import { decodeJwt, decodeProtectedHeader, errors, type JWTPayload, type JWTVerifyOptions, jwtVerify } from 'jose';
import { ParleyError } from '#contract/errors/errors.ts';
import { unauthorized } from '#domain/callers/identify.ts';
import type { KeySet } from './fetch-keys.ts';
import type { ProviderKeys } from './provider-keys.ts';

const clockToleranceSeconds = 30;
/** Of what a date can be. */
const latestSeconds = 8_640_000_000_000;
/** With a key that is public: whoever can verify a token cannot make one. */
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'];
/** None, that of any token, or that of an access token, as vendors spell it; not that of a logout or security event. */
const accessType = /^(application\/)?(([\w.]+-)*at\+)?jwt$/i;

/** What a token says of itself, before anything is known to be true. */
export interface UnverifiedToken {
  readonly issuer: string;
  readonly kid: string | undefined;
}

/** What the claims must say. */
export interface Expected {
  readonly issuer: string;
  readonly audience?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly nowMs: number;
}

export type VerifiedClaims = JWTPayload & { readonly exp: number };

/** Reads what a token says of itself; this decides which keys verify it. Throws `invalid_token`. */
export function readToken(token: string): UnverifiedToken {
  const { alg, typ, kid, iss } = decoded(token);
  if (typeof alg !== 'string' || !algorithms.includes(alg))
    throw refused('is not signed in a way that is taken here: RS, PS or ES with 256, 384 or 512 bits, or EdDSA');
  if (typ !== undefined && (typeof typ !== 'string' || !accessType.test(typ)))
    throw refused('is of a type that gives no access; send an access token');
  if (typeof iss !== 'string') throw refused('names no issuer');
  return { issuer: iss, kid: typeof kid === 'string' ? kid : undefined };
}

/** The claims of a token whose signature and claims hold. Throws `invalid_token`, or `overloaded` if the keys cannot be had. */
export async function verifySigned(
  { token, kid }: { readonly token: string; readonly kid: string | undefined },
  providerKeys: ProviderKeys,
  { issuer, audience, nowMs }: Expected,
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
    return withTimes(await verifyByAny(token, keys, options));
  } catch (error) {
    const newer = lacksKey(error, kid) ? await providerKeys.newerThan(keys) : undefined;
    if (newer === undefined) throw toRefusal(error);
    return withTimes(
      await verifyByAny(token, newer, options).catch((again: unknown) => {
        throw toRefusal(again);
      }),
    );
  }
}

/** Requires that the times a token names are times: a number too large for JSON reads as infinite, and would never pass. */
function withTimes(claims: VerifiedClaims): VerifiedClaims {
  for (const name of ['exp', 'nbf', 'iat'] as const) {
    const { [name]: seconds } = claims;
    if (seconds !== undefined && !(Math.abs(seconds) <= latestSeconds)) throw refused(`has a claim ${name} that is no time`);
  }
  return claims;
}

function decoded(token: string): Readonly<Record<'alg' | 'typ' | 'kid' | 'iss', unknown>> {
  try {
    const { alg, typ, kid } = decodeProtectedHeader(token);
    return { alg, typ, kid, iss: decodeJwt(token).iss };
  } catch {
    throw refused('is encrypted, or is not made of a header, claims and a signature');
  }
}

/** A token that names no key is tried with every key that is of its kind. */
async function verifyByAny(token: string, keys: KeySet, options: JWTVerifyOptions): Promise<VerifiedClaims> {
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

/** Whether newer keys of the issuer may have the one that a token was signed with. */
function lacksKey(error: unknown, kid: string | undefined): boolean {
  if (error instanceof errors.JWKSNoMatchingKey) return true;
  return error instanceof errors.JWSSignatureVerificationFailed && kid === undefined;
}

/** Says what is wrong; quotes nothing of the token and keeps nothing that does. */
function toRefusal(error: unknown): ParleyError {
  if (error instanceof ParleyError) return error;
  if (error instanceof errors.JWTExpired) return refused('has expired; get a new one');
  if (error instanceof errors.JWKSNoMatchingKey) return refused('is signed with a key that its issuer does not publish');
  if (error instanceof errors.JWSSignatureVerificationFailed) return refused('has a wrong signature');
  if (error instanceof errors.JWTClaimValidationFailed) return refused(describeClaimError(error));
  return refused('cannot be verified with the keys of its issuer');
}

function describeClaimError({ claim, reason }: errors.JWTClaimValidationFailed): string {
  if (reason === 'missing') return `lacks the claim ${claim}`;
  if (claim === 'aud') return 'was made for another audience than this service';
  if (claim === 'nbf' && reason === 'check_failed') return 'is not valid yet';
  return `has a claim ${claim} that does not hold`;
}

function refused(what: string): ParleyError {
  return unauthorized('invalid_token', `The token ${what}.`);
}
