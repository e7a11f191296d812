import type { RequestOrigin } from '#base/http/client-address.ts';
import type { Clock } from '#base/time/clock.ts';
import type { Configuration } from '#contract/configuration/configuration.ts';
import { type ErrorCode, ParleyError } from '#contract/errors/errors.ts';
import type { ConfigSnapshot } from '../deployments/config-snapshot.ts';
import { type BoundKeys, requireUnbound } from './bound-key.ts';
import type { Caller } from './caller.ts';
import { isUserKey } from './key-form.ts';
import { type KeyRing, type RingEntry, requireAllowedAddress } from './key-ring.ts';
import type { PerRequestKeys } from './per-request-keys.ts';

/**
 * Resolves the caller of a key or token. Usually returns synchronously for a configured key without bounds on its expiry,
 * addresses, and deployments. Throws:
 * - `invalid_api_key` or `invalid_token` if the credentials are not valid.
 * - `address_not_allowed` if the key is bound to addresses that do not include the address of the request.
 * - `overloaded` if a store or identity provider is unavailable, or if this node's copy of the keys may be outdated.
 * - `request_limit_exceeded` if too many unknown tokens come from the address of the request.
 * - `access_denied` for a key that is bound to deployments, unless the route accepts such keys.
 * - `user_blocked` for any credentials of a blocked user.
 */
export type Identify = (credentials: string, from: RequestOrigin, boundKeys?: BoundKeys) => Caller | Promise<Caller>;

/**
 * Resolves the caller of a token. Throws `invalid_token`, `overloaded` if its identity provider is unavailable, or
 * `request_limit_exceeded` if too many unknown tokens come from the address of the request.
 */
export type VerifyToken = (token: string, from: RequestOrigin) => Promise<Caller>;

export interface IdentifyDeps {
  readonly verifyToken: VerifyToken;
  readonly clock: Pick<Clock, 'epochMs'>;
  /** Users that administrators blocked. If undefined, users cannot be blocked. */
  readonly blockedUsers?: { admit(caller: Caller): Caller | Promise<Caller> } | undefined;
  /** Keys that users created. If undefined, no such keys exist. */
  readonly userKeys?: { find(key: string, from: RequestOrigin): Promise<Caller> } | undefined;
  /** Keys that administrators created at run time. If undefined, no such keys exist. */
  readonly runtimeKeys?: { requireCurrentKeys(name: string | undefined): void } | undefined;
  /** Called once per accepted request with the name of its configured key. */
  readonly onKeyUse?: ((name: string) => void) | undefined;
  /** Called for invalid credentials, a disallowed address, and a blocked user, with the error code and never the credentials. */
  readonly onRejection?: (code: ErrorCode) => void;
}

/**
 * Creates the lookup. It first looks for a configured key. After that, JWTs and keys that users created are recognized by
 * their form. Other credentials are looked up as a per-request key, and then as an opaque token. Only configured keys can also have
 * the form of a JWT.
 */
export function createIdentify(
  snapshot: () => Pick<ConfigSnapshot, 'keys' | 'configuration'>,
  perRequestKeys: PerRequestKeys,
  { verifyToken, clock, blockedUsers, userKeys, runtimeKeys, onKeyUse, onRejection }: IdentifyDeps,
): Identify {
  const enforceBounds = ({ caller, isAllowed }: RingEntry, from: RequestOrigin, boundKeys: BoundKeys | undefined): Caller => {
    requireUnexpired(caller, clock.epochMs());
    requireAllowedAddress(isAllowed, from, snapshot().configuration);
    requireUnbound(caller, boundKeys);
    return caller;
  };
  const resolveAsync = async (
    credentials: string,
    from: RequestOrigin,
    { entry, boundKeys }: { readonly entry: RingEntry | undefined; readonly boundKeys: BoundKeys | undefined },
  ): Promise<Caller> => {
    try {
      if (entry !== undefined) return enforceBounds(entry, from, boundKeys);
      if (hasJwtForm(credentials)) return await verifyToken(credentials, from);
      if (userKeys !== undefined && isUserKey(credentials)) {
        const keyCaller = await userKeys.find(credentials, from);
        requireUnbound(keyCaller, boundKeys);
        return keyCaller;
      }
      const caller = await perRequestKeys.find(credentials);
      if (caller !== undefined) return caller;
      if (canBeOpaqueToken(credentials, snapshot().configuration)) return await verifyToken(credentials, from);
      runtimeKeys?.requireCurrentKeys(undefined);
      throw createUnauthorizedError(
        'invalid_api_key',
        'The key is not valid. Check that you copied all of it. If it is a per-request key, its call has ended.',
      );
    } catch (error) {
      if (error instanceof ParleyError && (error.status === 401 || error.code === 'address_not_allowed'))
        onRejection?.(error.code);
      throw error;
    }
  };
  const resolve: Identify = (credentials, from, boundKeys) => {
    const entry = snapshot().keys.find(credentials);
    const name = entry?.caller.configuredKey?.name;
    if (name !== undefined) runtimeKeys?.requireCurrentKeys(name);
    return entry?.hasBounds === false ? entry.caller : resolveAsync(credentials, from, { entry, boundKeys });
  };
  const accept = (caller: Caller): Caller => {
    // The caller of a per-request key has the configured key of the outer call.
    const name = caller.chain === null ? caller.configuredKey?.name : undefined;
    if (name !== undefined) onKeyUse?.(name);
    return caller;
  };
  const admit = (caller: Caller): Caller | Promise<Caller> => {
    if (blockedUsers === undefined) return accept(caller);
    try {
      const admitted = blockedUsers.admit(caller);
      return admitted instanceof Promise ? admitted.then(accept) : accept(admitted);
    } catch (error) {
      if (error instanceof ParleyError && error.code === 'user_blocked') onRejection?.(error.code);
      throw error;
    }
  };
  return (credentials, from, boundKeys) => {
    const caller = resolve(credentials, from, boundKeys);
    return caller instanceof Promise ? caller.then(admit) : admit(caller);
  };
}

/**
 * Returns whether credentials have the form of a token: three base64url parts, of which the last is empty if the token is
 * unsigned, or five parts if it is encrypted.
 */
export function hasJwtForm(credentials: string): boolean {
  return /^[\w-]+\.[\w-]*\.[\w-]*(\.[\w-]*\.[\w-]*)?$/.test(credentials);
}

/** Form of a bearer token (RFC 6750, 2.1). */
const bearerTokenPattern = /^[\w.~+/-]+=*$/;

/**
 * Returns whether an identity provider can introspect credentials that are not a key. Credentials in the form of Parley's own keys
 * are never sent to a provider.
 */
function canBeOpaqueToken(credentials: string, { identityProviders }: Pick<Configuration, 'identityProviders'>): boolean {
  return (
    Object.values(identityProviders).some(({ introspection }) => introspection !== undefined) &&
    bearerTokenPattern.test(credentials) &&
    !/^parley[-_]/.test(credentials)
  );
}

/** Returns the error for rejected or missing credentials, with the challenge that a 401 requires (RFC 6750, 3). */
export function createUnauthorizedError(
  code: 'missing_credentials' | 'invalid_api_key' | 'invalid_token',
  message: string,
): ParleyError {
  const challenge = code === 'missing_credentials' ? 'Bearer' : 'Bearer error="invalid_token"';
  return new ParleyError(code, message, { headers: { 'www-authenticate': challenge } });
}

/** Returns whether a key of the configuration has expired. */
export function hasExpired({ configuredKey }: Pick<Caller, 'configuredKey'>, nowMs: number): boolean {
  return (configuredKey?.expiresAtMs ?? Number.POSITIVE_INFINITY) <= nowMs;
}

/** Returns whether a key of the configuration was removed, blocked, or replaced after a call with it began. */
export function wasRevoked({ configuredKey }: Pick<Caller, 'configuredKey'>, keys: KeyRing): boolean {
  return configuredKey !== undefined && !keys.accepts(configuredKey);
}

function requireUnexpired(caller: Caller, nowMs: number): void {
  if (!hasExpired(caller, nowMs)) return;
  const time = new Date(caller.configuredKey?.expiresAtMs ?? nowMs).toISOString();
  throw createUnauthorizedError('invalid_api_key', `The key expired at ${time}. Ask the operator of this service for a new one.`);
}
