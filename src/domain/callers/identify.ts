import { hash } from 'node:crypto';
import type { RequestOrigin } from '#base/http/client-address.ts';
import { type ErrorCode, ParleyError } from '#contract/errors.ts';
import { type BoundKeys, requireUnbound } from './bound-key.ts';
import type { Caller } from './caller.ts';
import { isMadeKey } from './made-key-form.ts';
import type { PerRequestKeys } from './per-request-keys.ts';
import { subjectPrefixes } from './subjects.ts';

/**
 * Finds who a key or token belongs to, at once if it is a configured key. Throws `invalid_api_key`, `invalid_token`,
 * `address_not_allowed` for a key that is bound to other addresses than the one the request comes from, or `overloaded` if the
 * keys that would tell cannot be had. Throws `access_denied` for a key that is bound to deployments, unless the route accepts such keys:
 * this is the one place where routes are closed to them.
 */
export type Identify = (credentials: string, from: RequestOrigin, boundKeys?: BoundKeys) => Caller | Promise<Caller>;

/** Finds whom a signed token (JWT) stands for. Throws `invalid_token`, or `overloaded` if its issuer's keys cannot be had. */
export type VerifyToken = (token: string) => Promise<Caller>;

export interface IdentifyDeps {
  readonly verifyToken: VerifyToken;
  /** The keys that users made; absent: there are none. */
  readonly madeKeys?: { find(key: string, from: RequestOrigin): Promise<Caller> } | undefined;
  /** Called once for each refusal of credentials with its reason, never with the credentials. */
  readonly noteRefusal?: (why: ErrorCode) => void;
}

/**
 * Looks a key up among the configured ones, then, by its form, among those that users made or those of calls under way; what
 * has the form of a token and is no configured key is verified as one. No other key ever has that form.
 */
export function createIdentify(
  snapshot: () => { readonly keys: KeyRing },
  perRequestKeys: PerRequestKeys,
  { verifyToken, madeKeys, noteRefusal }: IdentifyDeps,
): Identify {
  const findOther = async (credentials: string, from: RequestOrigin, boundKeys: BoundKeys | undefined): Promise<Caller> => {
    try {
      if (hasTokenForm(credentials)) return await verifyToken(credentials);
      if (madeKeys !== undefined && isMadeKey(credentials)) {
        const found = await madeKeys.find(credentials, from);
        requireUnbound(found, boundKeys);
        return found;
      }
      const caller = await perRequestKeys.find(credentials);
      if (caller !== undefined) return caller;
      throw unauthorized('invalid_api_key', 'The key is not known here, or the call it was made for has ended.');
    } catch (thrown) {
      if (thrown instanceof ParleyError && (thrown.status === 401 || thrown.code === 'address_not_allowed'))
        noteRefusal?.(thrown.code);
      throw thrown;
    }
  };
  return (credentials, from, boundKeys) => snapshot().keys.find(credentials) ?? findOther(credentials, from, boundKeys);
}

/** Three parts in base64url, the last of which is empty if nothing is signed; five if the token is encrypted. */
export function hasTokenForm(credentials: string): boolean {
  return /^[\w-]+\.[\w-]*\.[\w-]*(\.[\w-]*\.[\w-]*)?$/.test(credentials);
}

/** A refusal of credentials, or of their absence, with the challenge that a 401 carries (RFC 6750, 3). */
export function unauthorized(code: 'missing_credentials' | 'invalid_api_key' | 'invalid_token', message: string): ParleyError {
  const challenge = code === 'missing_credentials' ? 'Bearer' : 'Bearer error="invalid_token"';
  return new ParleyError(code, message, { headers: { 'www-authenticate': challenge } });
}

/** Whom a key stands for. */
type Holder = Pick<Caller, 'project' | 'roles'>;

/** Configured keys, held as digests: a look-up compares digests, so its time tells nothing of the keys. */
export class KeyRing {
  readonly #callers = new Map<string, Caller>();

  add(key: string, holder: Holder): void {
    this.addDigest(hash('sha256', key, 'hex'), holder);
  }

  /** A key of which only the SHA-256 digest is known, in hexadecimal. */
  addDigest(sha256: string, { project, roles }: Holder): void {
    this.#callers.set(sha256.toLowerCase(), { subject: `${subjectPrefixes.key}${project}`, project, roles, chain: null });
  }

  /** Whom a key stands for. */
  find(key: string): Caller | undefined {
    return this.#callers.get(hash('sha256', key, 'hex'));
  }
}
