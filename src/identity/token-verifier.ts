import { hash } from 'node:crypto';
import type { BoundedCache, BoundedCacheOptions, Caches } from '#base/cache/bounded-cache.ts';
import type { HttpClient } from '#base/http/client.ts';
import { createNetworkMatcher, type RequestOrigin, resolveClientAddress, toPeer } from '#base/http/client-address.ts';
import { isJsonObject } from '#base/json/json.ts';
import type { Clock } from '#base/time/clock.ts';
import type { IdentityProviderEntry } from '#contract/configuration/access.ts';
import type { Configuration } from '#contract/configuration/configuration.ts';
import { defaultRole } from '#contract/roles.ts';
import type { Caller, Profile } from '#domain/callers/caller.ts';
import { createUnauthorizedError, type VerifyToken } from '#domain/callers/identify.ts';
import { toTokenSubject } from '#domain/callers/subjects.ts';
import type { ConfigSnapshot } from '#domain/deployments/config-snapshot.ts';
import { Introspection, IntrospectionGuard, type IntrospectionProvider } from './introspection.ts';
import { ProviderKeys } from './provider-keys.ts';

const maxTokenLength = 16_384;

export interface TokenVerifierDeps {
  readonly snapshot: () => Pick<ConfigSnapshot, 'configuration'>;
  readonly http: HttpClient;
  readonly clock: Clock;
  readonly caches: Caches;
  /** Called with the caller of each verified token that was not in the cache, and with the user's profile from its claims. */
  readonly recordSignIn?: ((caller: Caller, profile: Profile) => void) | undefined;
  /** Called on the first failure to fetch keys, and again only after a success. */
  readonly reportError: (message: string, error: unknown) => void;
}

/** State that belongs to one configuration. */
interface VerifierState {
  readonly configuration: Configuration;
  readonly providers: ReadonlyMap<string, Provider>;
  readonly tokens: VerifiedTokens;
  /** Undefined if no provider introspects tokens. */
  readonly introspection: Introspection<Provider & IntrospectionProvider> | undefined;
  /** Introspections in progress by digest of the token. */
  readonly introspecting: Map<string, Promise<Caller>>;
}

interface Provider extends ClaimsSource {
  readonly entry: IdentityProviderEntry;
  readonly keys: ProviderKeys;
}

/**
 * Returns a verifier for tokens of the configured identity providers. JWTs of their issuers are verified with the keys of the
 * issuer. Other tokens are introspected, if a provider supports it. A new configuration clears the cache of verified tokens, but
 * keeps the keys of providers with the same issuer and `jwksUrl`. Create one per process.
 */
export function createTokenVerifier(deps: TokenVerifierDeps): VerifyToken {
  let last: VerifierState | undefined;
  let guard: IntrospectionGuard | undefined;
  const createIntrospection: CreateIntrospection = (providers) => {
    guard ??= new IntrospectionGuard(deps.clock, deps.caches);
    return new Introspection(providers, { ...deps, guard });
  };
  const getState = (): VerifierState => {
    const { configuration } = deps.snapshot();
    if (last?.configuration !== configuration) last = buildState(configuration, deps, { last, createIntrospection });
    return last;
  };
  return async (token, from) => {
    if (token.length > maxTokenLength)
      throw createUnauthorizedError('invalid_token', `The token is longer than ${maxTokenLength} characters.`);
    const state = getState();
    const { providers, tokens, introspection } = state;
    // The digest covers the complete token, so that a token that shares only a prefix does not match.
    const digest = hash('sha256', token, 'base64url');
    const cached = tokens.find(digest);
    if (cached !== undefined) return cached;
    const { findIssuer, readToken, verifyJwt } = await import('./verify-jwt.ts');
    if (introspection !== undefined && !providers.has(findIssuer(token) ?? ''))
      return introspectOnce(state, introspection, { token, digest, from }, deps);
    const { issuer, kid } = readToken(token);
    const provider = providers.get(issuer);
    if (provider === undefined)
      throw createUnauthorizedError('invalid_token', 'The issuer of the token is not a configured identity provider.');
    const nowMs = deps.clock.epochMs();
    const claims = await verifyJwt({ token, kid }, provider.keys, { ...provider.entry, nowMs });
    const caller = { ...toCaller(claims, provider), signedInAtMs: readIssuedAtMs(claims.iat, nowMs) };
    tokens.store(digest, caller, Math.min(maxCacheMs, claims.exp * 1000 - nowMs));
    deps.recordSignIn?.(caller, toProfile(claims));
    return caller;
  };
}

interface UnknownToken {
  readonly token: string;
  readonly digest: string;
  readonly from: RequestOrigin;
}

/** Resolves the caller of a token by introspection. Concurrent requests with one token share one introspection. */
function introspectOnce(
  { configuration, tokens, introspecting }: VerifierState,
  introspection: Introspection<Provider & IntrospectionProvider>,
  { token, digest, from }: UnknownToken,
  { clock, recordSignIn }: TokenVerifierDeps,
): Promise<Caller> {
  const introspect = async (): Promise<Caller> => {
    const isTrusted = createNetworkMatcher(configuration.security.trustedProxies);
    const { realIp } = resolveClientAddress(toPeer(from.socket), from.headers, isTrusted);
    const request = { token, digest, address: realIp };
    return introspection.introspect(request, ({ provider, claims, validMs }) => {
      const caller = { ...toCaller(claims, provider), signedInAtMs: readIssuedAtMs(claims.iat, clock.epochMs()) };
      tokens.store(digest, caller, validMs);
      recordSignIn?.(caller, toProfile(claims));
      return caller;
    });
  };
  const pending = introspecting.get(digest) ?? introspect().finally(() => introspecting.delete(digest));
  introspecting.set(digest, pending);
  return pending;
}

/** Returns the time when the token was issued. Uses the current time if the claim is missing or in the future. */
function readIssuedAtMs(iat: unknown, nowMs: number): number {
  return typeof iat === 'number' && iat >= 0 ? Math.min(Math.round(iat * 1000), nowMs) : nowMs;
}

type CreateIntrospection = (
  providers: readonly (Provider & IntrospectionProvider)[],
) => Introspection<Provider & IntrospectionProvider>;

function buildState(
  configuration: Configuration,
  deps: TokenVerifierDeps,
  { last, createIntrospection }: { readonly last: VerifierState | undefined; readonly createIntrospection: CreateIntrospection },
): VerifierState {
  const providers = new Map<string, Provider>();
  for (const [name, entry] of Object.entries(configuration.identityProviders)) {
    const before = last?.providers.get(entry.issuer);
    const keys = before?.entry.jwksUrl === entry.jwksUrl ? before?.keys : undefined;
    providers.set(entry.issuer, {
      name,
      isFirst: providers.size === 0,
      entry,
      keys: keys ?? toProviderKeys(name, entry, deps),
    });
  }
  const cache = deps.caches.create('verified_tokens', verifiedTokenBounds);
  const introspectors = [...providers.values()].filter(canIntrospect);
  const introspection = introspectors.length === 0 ? undefined : createIntrospection(introspectors);
  return { configuration, providers, tokens: new VerifiedTokens(cache, deps.clock), introspection, introspecting: new Map() };
}

function canIntrospect(provider: Provider): provider is Provider & IntrospectionProvider {
  return provider.entry.introspection !== undefined;
}

function toProviderKeys(
  name: string,
  entry: IdentityProviderEntry,
  { http, clock, reportError }: TokenVerifierDeps,
): ProviderKeys {
  return new ProviderKeys({
    fetchKeys: async () => (await import('./verify-jwt.ts')).fetchKeys(http, entry),
    clock,
    reportError: (error) => reportError(`cannot fetch the keys of the identity provider ${name}`, error),
  });
}

const maxTextChars = 512;

/** Identity provider of the claims. */
interface ClaimsSource {
  /** Name in the configuration. */
  readonly name: string;
  /** Whether the provider is the first in the configuration. */
  readonly isFirst: boolean;
  readonly entry: Pick<IdentityProviderEntry, 'userIdClaim' | 'rolesClaim' | 'projectClaim'>;
}

/**
 * Returns the caller of verified claims. Its project comes from `projectClaim`, or is the name of the provider. Throws
 * `invalid_token` if the claims have no valid user ID.
 */
export function toCaller(claims: Readonly<Record<string, unknown>>, { name, isFirst, entry }: ClaimsSource): Caller {
  const user = findClaim(claims, entry.userIdClaim);
  if (typeof user !== 'string' || !isPreserved(user))
    throw createUnauthorizedError(
      'invalid_token',
      `The token has no valid user ID: its claim ${entry.userIdClaim} is missing or invalid.`,
    );
  const roles = entry.rolesClaim === undefined ? [] : toRoles(findClaim(claims, entry.rolesClaim));
  return {
    subject: toTokenSubject({ name, isFirst }, user),
    project: findProject(claims, entry.projectClaim) ?? name,
    roles: roles.length > 0 ? roles : [defaultRole],
    chain: null,
  };
}

/** Maximum length of a name or address that other users see. */
const maxProfileChars = 256;

/**
 * Returns the name and the address of the user (OpenID Connect Core 1.0, 5.1). An address that the provider has not verified is
 * ignored, because users share applications by address.
 */
function toProfile({ name, email, email_verified: isVerified }: Readonly<Record<string, unknown>>): Profile {
  const toText = (claim: unknown): string | null =>
    typeof claim === 'string' && claim.length <= maxProfileChars && isPreserved(claim) ? claim : null;
  return { name: toText(name), address: isVerified === true || isVerified === 'true' ? toText(email) : null };
}

/** Returns the project of a token. A value that stores do not preserve is ignored. */
function findProject(claims: Readonly<Record<string, unknown>>, projectClaim: string | undefined): string | undefined {
  const project = projectClaim === undefined ? undefined : findClaim(claims, projectClaim);
  return typeof project === 'string' && isPreserved(project) ? project : undefined;
}

/** Returns whether all stores preserve the text: 1 to 512 characters, without control characters and unpaired surrogates. */
function isPreserved(text: string): boolean {
  return text.length > 0 && text.length <= maxTextChars && !/[\p{Cc}\p{Cs}]/u.test(text);
}

/**
 * Returns a claim by its name, or by a dotted path if no claim has that name. Claim names may contain dots themselves, for
 * example URLs.
 */
function findClaim(claims: unknown, path: string): unknown {
  if (!isJsonObject(claims)) return undefined;
  if (Object.hasOwn(claims, path)) return claims[path];
  for (let dot = path.indexOf('.'); dot !== -1; dot = path.indexOf('.', dot + 1)) {
    const head = path.slice(0, dot);
    const nested = Object.hasOwn(claims, head) ? findClaim(claims[head], path.slice(dot + 1)) : undefined;
    if (nested !== undefined) return nested;
  }
  return undefined;
}

/** Returns the roles of a claim, which is a list or a text with spaces as separators. */
function toRoles(claim: unknown): readonly string[] {
  const roles = typeof claim === 'string' ? claim.split(' ') : Array.isArray(claim) ? claim : [];
  return roles.filter((role): role is string => typeof role === 'string' && role !== '');
}

const maxCacheMs = 60_000;
/** Approximate memory use of a caller in bytes, without its texts. */
const callerBytes = 400;

interface VerifiedToken {
  readonly caller: Caller;
  readonly untilMs: number;
}

export const verifiedTokenBounds: BoundedCacheOptions<VerifiedToken> = {
  maxBytes: 8 * 1024 ** 2,
  countBytes: ({ caller: { subject, project, roles } }) =>
    roles.reduce((sum, role) => sum + role.length, callerBytes + subject.length + project.length),
};

/** Cache of callers by a digest of their complete token. Evicts the least recently used entries. */
export class VerifiedTokens {
  readonly #callers: BoundedCache<VerifiedToken>;
  readonly #clock: Clock;

  constructor(callers: BoundedCache<VerifiedToken>, clock: Clock) {
    this.#callers = callers;
    this.#clock = clock;
  }

  find(digest: string): Caller | undefined {
    const entry = this.#callers.find(digest);
    if (entry === undefined || entry.untilMs > this.#clock.nowMs()) return entry?.caller;
    this.#callers.delete(digest);
    return undefined;
  }

  /** Stores a caller for a time in milliseconds. */
  store(digest: string, caller: Caller, validMs: number): void {
    if (validMs <= 0) return;
    this.#callers.set(digest, { caller, untilMs: this.#clock.nowMs() + validMs });
  }
}
