import { hash } from 'node:crypto';
import type { Caches } from '#base/caches.ts';
import type { Clock } from '#base/clock.ts';
import type { HttpClient } from '#base/http/client.ts';
import type { IdentityProviderEntry } from '#contract/configuration/access.ts';
import type { Configuration } from '#contract/configuration/configuration.ts';
import type { Caller } from '#domain/callers/caller.ts';
import { unauthorized, type VerifyToken } from '#domain/callers/identify.ts';
import type { ConfigSnapshot } from '#domain/deployments/config-snapshot.ts';
import { ProviderKeys } from './provider-keys.ts';
import { toCaller } from './to-caller.ts';
import { VerifiedTokens, verifiedTokenBounds } from './verified-tokens.ts';

const maxTokenLength = 16_384;

export interface TokenVerifierDeps {
  readonly snapshot: () => Pick<ConfigSnapshot, 'configuration'>;
  readonly http: HttpClient;
  readonly clock: Clock;
  readonly caches: Caches;
  /** Called with whom a token stands for whenever one is verified, and not found among those that were a moment ago. */
  readonly noteSignIn?: ((caller: Caller) => void) | undefined;
  /** Called once when keys cannot be had, until they can be had again. */
  readonly noteFault: (message: string, thrown: unknown) => void;
}

/** What is known under one configuration. */
interface Known {
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
  let last: Known | undefined;
  const known = (): Known => {
    const { configuration } = deps.snapshot();
    if (last?.configuration !== configuration) last = toKnown(configuration, deps, last);
    return last;
  };
  return async (token) => {
    if (token.length > maxTokenLength)
      throw unauthorized('invalid_token', `The token is longer than ${maxTokenLength} characters.`);
    const { providers, tokens } = known();
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
    tokens.keep(digest, caller, claims.exp * 1000 - nowMs);
    deps.noteSignIn?.(caller);
    return caller;
  };
}

/** Of a token that does not say, or says that it comes from the future: now. */
function toIssuedAt(iat: unknown, nowMs: number): number {
  return typeof iat === 'number' && iat >= 0 ? Math.min(Math.round(iat * 1000), nowMs) : nowMs;
}

function toKnown(configuration: Configuration, deps: TokenVerifierDeps, last: Known | undefined): Known {
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
  const kept = deps.caches.open('verified_tokens', verifiedTokenBounds);
  return { configuration, providers, tokens: new VerifiedTokens(kept, deps.clock) };
}

function toProviderKeys(name: string, entry: IdentityProviderEntry, { http, clock, noteFault }: TokenVerifierDeps): ProviderKeys {
  return new ProviderKeys({
    fetchSet: async () => (await import('./fetch-keys.ts')).fetchKeys(http, entry),
    clock,
    noteFault: (thrown) => noteFault(`the keys of the identity provider ${name} cannot be had`, thrown),
  });
}
