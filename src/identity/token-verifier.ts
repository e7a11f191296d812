import { hash } from 'node:crypto';
import type { BoundedCache, BoundedCacheOptions, Caches } from '#base/cache/bounded-cache.ts';
import type { HttpClient } from '#base/http/client.ts';
import { isJsonObject } from '#base/json/json.ts';
import type { Clock } from '#base/time/clock.ts';
import type { IdentityProviderEntry } from '#contract/configuration/access.ts';
import type { Configuration } from '#contract/configuration/configuration.ts';
import { defaultRole } from '#contract/roles.ts';
import type { Caller } from '#domain/callers/caller.ts';
import { unauthorized, type VerifyToken } from '#domain/callers/identify.ts';
import { isReservedSubject, subjectPrefixes } from '#domain/callers/subjects.ts';
import type { ConfigSnapshot } from '#domain/deployments/config-snapshot.ts';
import { ProviderKeys } from './provider-keys.ts';

const maxTokenLength = 16_384;

export interface TokenVerifierDeps {
  readonly snapshot: () => Pick<ConfigSnapshot, 'configuration'>;
  readonly http: HttpClient;
  readonly clock: Clock;
  readonly caches: Caches;
  /** Called with whom a token stands for whenever one is verified, and not found among those that were a moment ago. */
  readonly noteSignIn?: ((caller: Caller) => void) | undefined;
  /** Called once when keys cannot be had, until they can be had again. */
  readonly reportError: (message: string, error: unknown) => void;
}

/** What is known under one configuration. */
interface VerifierState {
  readonly configuration: Configuration;
  readonly providers: ReadonlyMap<string, Provider>;
  readonly tokens: VerifiedTokens;
}

interface Provider {
  readonly name: string;
  readonly isFirst: boolean;
  readonly entry: IdentityProviderEntry;
  readonly keys: ProviderKeys;
}

/**
 * Verifies tokens (JWT) of the configured identity providers. Another configuration forgets the tokens that were verified;
 * the keys of a provider that stays are kept. One for the process. What reads and verifies tokens is loaded with the first one.
 */
export function createTokenVerifier(deps: TokenVerifierDeps): VerifyToken {
  let last: VerifierState | undefined;
  const getState = (): VerifierState => {
    const { configuration } = deps.snapshot();
    if (last?.configuration !== configuration) last = toState(configuration, deps, last);
    return last;
  };
  return async (token) => {
    if (token.length > maxTokenLength)
      throw unauthorized('invalid_token', `The token is longer than ${maxTokenLength} characters.`);
    const { providers, tokens } = getState();
    // Of the whole token: whoever knows the beginning of another's must not be taken for that one.
    const digest = hash('sha256', token, 'base64url');
    const before = tokens.find(digest);
    if (before !== undefined) return before;
    const { readToken, verifySigned } = await import('./verify-signed.ts');
    const { issuer, kid } = readToken(token);
    const provider = providers.get(issuer);
    if (provider === undefined)
      throw unauthorized('invalid_token', 'The issuer of the token is none of the identity providers configured here.');
    const nowMs = deps.clock.epochMs();
    const claims = await verifySigned({ token, kid }, provider.keys, { ...provider.entry, nowMs });
    const caller = { ...toCaller(claims, provider), signedInAtMs: toIssuedAt(claims.iat, nowMs) };
    tokens.store(digest, caller, claims.exp * 1000 - nowMs);
    deps.noteSignIn?.(caller);
    return caller;
  };
}

/** Of a token that does not say, or says that it comes from the future: now. */
function toIssuedAt(iat: unknown, nowMs: number): number {
  return typeof iat === 'number' && iat >= 0 ? Math.min(Math.round(iat * 1000), nowMs) : nowMs;
}

function toState(configuration: Configuration, deps: TokenVerifierDeps, last: VerifierState | undefined): VerifierState {
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
  const cache = deps.caches.open('verified_tokens', verifiedTokenBounds);
  return { configuration, providers, tokens: new VerifiedTokens(cache, deps.clock) };
}

function toProviderKeys(
  name: string,
  entry: IdentityProviderEntry,
  { http, clock, reportError }: TokenVerifierDeps,
): ProviderKeys {
  return new ProviderKeys({
    fetchSet: async () => (await import('./fetch-keys.ts')).fetchKeys(http, entry),
    clock,
    reportError: (error) => reportError(`the keys of the identity provider ${name} cannot be had`, error),
  });
}

const maxSubjectChars = 512;

/** The identity provider whose claims are read. */
interface ClaimsSource {
  /** Its name in the configuration. */
  readonly name: string;
  /** Whether it stands first in the configuration. */
  readonly isFirst: boolean;
  readonly entry: Pick<IdentityProviderEntry, 'userIdClaim' | 'rolesClaim'>;
}

/** Whom verified claims stand for; as its project counts the name of the provider. Throws `invalid_token` where they name no user. */
export function toCaller(claims: Readonly<Record<string, unknown>>, { name, isFirst, entry }: ClaimsSource): Caller {
  const user = claimAt(claims, entry.userIdClaim);
  if (typeof user !== 'string' || !isSubject(user))
    throw unauthorized('invalid_token', `The token names no user: its claim ${entry.userIdClaim} is missing or cannot be one.`);
  const roles = entry.rolesClaim === undefined ? [] : toRoles(claimAt(claims, entry.rolesClaim));
  return {
    subject:
      isFirst && !isReservedSubject(user) ? user : `${subjectPrefixes.token}${name.replace(/[%:]/g, encodeURIComponent)}:${user}`,
    project: name,
    roles: roles.length > 0 ? roles : [defaultRole],
    chain: null,
  };
}

/** Text that every store keeps as it is: short, without control characters and halves of characters. */
function isSubject(user: string): boolean {
  return user.length > 0 && user.length <= maxSubjectChars && !/[\p{Cc}\p{Cs}]/u.test(user);
}

/** A claim by its name, else by a dotted path; names of claims may hold dots themselves, such as addresses. */
function claimAt(claims: unknown, path: string): unknown {
  if (!isJsonObject(claims)) return undefined;
  if (Object.hasOwn(claims, path)) return claims[path];
  for (let dot = path.indexOf('.'); dot !== -1; dot = path.indexOf('.', dot + 1)) {
    const head = path.slice(0, dot);
    const nested = Object.hasOwn(claims, head) ? claimAt(claims[head], path.slice(dot + 1)) : undefined;
    if (nested !== undefined) return nested;
  }
  return undefined;
}

/** One role or several, as a list or separated by spaces. */
function toRoles(claim: unknown): readonly string[] {
  const roles = typeof claim === 'string' ? claim.split(' ') : Array.isArray(claim) ? claim : [];
  return roles.filter((role): role is string => typeof role === 'string' && role !== '');
}

const maxCacheMs = 60_000;
/** Of a caller beside its words. */
const callerBytes = 400;

interface VerifiedToken {
  readonly caller: Caller;
  readonly untilMs: number;
}

/** The cache that verified tokens lie in. */
export const verifiedTokenBounds: BoundedCacheOptions<VerifiedToken> = {
  maxBytes: 8 * 1024 ** 2,
  countBytes: ({ caller: { subject, project, roles } }) =>
    roles.reduce((sum, role) => sum + role.length, callerBytes + subject.length + project.length),
};

/** Whom tokens stand for that were verified a moment ago, by a digest of the whole token; those asked for last are kept. */
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

  /** Keeps one for a minute, or for what is left of its life if that is less. */
  store(digest: string, caller: Caller, remainingMs: number): void {
    if (remainingMs <= 0) return;
    this.#callers.set(digest, { caller, untilMs: this.#clock.nowMs() + Math.min(maxCacheMs, remainingMs) });
  }
}
