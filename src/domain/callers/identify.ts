import type { RequestOrigin } from '#base/http/client-address.ts';
import type { Clock } from '#base/time/clock.ts';
import { type ErrorCode, ParleyError } from '#contract/errors/errors.ts';
import type { ConfigSnapshot } from '../deployments/config-snapshot.ts';
import { type BoundKeys, requireUnbound } from './bound-key.ts';
import type { Caller } from './caller.ts';
import { type RingEntry, requireAllowedAddress } from './key-ring.ts';
import type { PerRequestKeys } from './per-request-keys.ts';
import { isUserKey } from './user-key-form.ts';

/**
 * Finds who a key or token belongs to. Returns no promise for a configured key without bounds. Throws `invalid_api_key`,
 * `invalid_token`, `address_not_allowed` for a key that is bound to other addresses than the one the request comes from, or `overloaded` if the
 * keys that would tell cannot be had. Throws `access_denied` for a key that is bound to deployments, unless the route accepts such keys:
 * this is the one place where routes are closed to them. Throws `user_blocked` for any credentials of a user who is blocked.
 */
export type Identify = (credentials: string, from: RequestOrigin, boundKeys?: BoundKeys) => Caller | Promise<Caller>;

/** Finds whom a signed token (JWT) stands for. Throws `invalid_token`, or `overloaded` if its issuer's keys cannot be had. */
export type VerifyToken = (token: string) => Promise<Caller>;

export interface IdentifyDeps {
  readonly verifyToken: VerifyToken;
  readonly clock: Pick<Clock, 'epochMs'>;
  /** The users that administrators blocked. Absent: no user can be blocked. */
  readonly blockedUsers?: { admit(caller: Caller): Caller | Promise<Caller> } | undefined;
  /** The keys that users made; absent: there are none. */
  readonly userKeys?: { find(key: string, from: RequestOrigin): Promise<Caller> } | undefined;
  /** Called once for each refusal of credentials with its reason, never with the credentials. */
  readonly onRefusal?: (code: ErrorCode) => void;
}

/**
 * Looks a key up among the configured ones, then, by its form, among those that users made or those of calls under way; what
 * has the form of a token and is no configured key is verified as one. No other key ever has that form.
 */
export function createIdentify(
  snapshot: () => Pick<ConfigSnapshot, 'keys' | 'configuration'>,
  perRequestKeys: PerRequestKeys,
  { verifyToken, clock, blockedUsers, userKeys, onRefusal }: IdentifyDeps,
): Identify {
  const requireBounds = ({ caller, isAllowed }: RingEntry, from: RequestOrigin, boundKeys: BoundKeys | undefined): Caller => {
    requireUnexpired(caller, clock.epochMs());
    requireAllowedAddress(isAllowed, from, snapshot().configuration);
    requireUnbound(caller, boundKeys);
    return caller;
  };
  const findOther = async (
    credentials: string,
    from: RequestOrigin,
    { entry, boundKeys }: { readonly entry: RingEntry | undefined; readonly boundKeys: BoundKeys | undefined },
  ): Promise<Caller> => {
    try {
      if (entry !== undefined) return requireBounds(entry, from, boundKeys);
      if (hasTokenForm(credentials)) return await verifyToken(credentials);
      if (userKeys !== undefined && isUserKey(credentials)) {
        const keyCaller = await userKeys.find(credentials, from);
        requireUnbound(keyCaller, boundKeys);
        return keyCaller;
      }
      const caller = await perRequestKeys.find(credentials);
      if (caller !== undefined) return caller;
      throw unauthorized('invalid_api_key', 'The key is not known here, or the call it was made for has ended.');
    } catch (error) {
      if (error instanceof ParleyError && (error.status === 401 || error.code === 'address_not_allowed')) onRefusal?.(error.code);
      throw error;
    }
  };
  const find: Identify = (credentials, from, boundKeys) => {
    const entry = snapshot().keys.find(credentials);
    return entry?.hasBounds === false ? entry.caller : findOther(credentials, from, { entry, boundKeys });
  };
  if (blockedUsers === undefined) return find;
  const admit = (caller: Caller): Caller | Promise<Caller> => {
    try {
      return blockedUsers.admit(caller);
    } catch (error) {
      if (error instanceof ParleyError && error.code === 'user_blocked') onRefusal?.(error.code);
      throw error;
    }
  };
  return (credentials, from, boundKeys) => {
    const caller = find(credentials, from, boundKeys);
    return caller instanceof Promise ? caller.then(admit) : admit(caller);
  };
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

/** Whether a key of a configuration file has expired. */
export function hasExpired({ configuredKey }: Pick<Caller, 'configuredKey'>, nowMs: number): boolean {
  return (configuredKey?.expiresAtMs ?? Number.POSITIVE_INFINITY) <= nowMs;
}

function requireUnexpired(caller: Caller, nowMs: number): void {
  if (!hasExpired(caller, nowMs)) return;
  const time = new Date(caller.configuredKey?.expiresAtMs ?? nowMs).toISOString();
  throw unauthorized('invalid_api_key', `The key expired at ${time}. Ask the operator of this service for a new one.`);
}
