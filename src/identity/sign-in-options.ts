import type { Caches } from '#base/cache/bounded-cache.ts';
import { createEntryCounter, ExpiringCache } from '#base/cache/expiring-cache.ts';
import type { HttpClient } from '#base/http/client.ts';
import type { Clock } from '#base/time/clock.ts';
import type { IdentityProviderEntry, SignInEntry } from '#contract/configuration/access.ts';
import type { ListSignInOptions, SignInEndpoints, SignInOption } from '#contract/page/sign-in-option.ts';
import type { ConfigSnapshot } from '#domain/deployments/config-snapshot.ts';
import { IssuerError, isIssuerEndpoint, readOpenIdConfiguration } from './openid-configuration.ts';

const discoveryMs = 10_000;
/** Maximum time that the page waits for a provider. */
const maxWaitMs = 2_000;
const providerTtlMs = 600_000;
const failureTtlMs = 10_000;
const maxBytes = 256 * 1024;

export interface SignInOptionsDeps {
  readonly snapshot: () => Pick<ConfigSnapshot, 'configuration'>;
  readonly http: HttpClient;
  readonly clock: Clock;
  readonly caches: Caches;
  /** Called on the first failure of a provider, and again only after a success. */
  readonly reportError: (message: string, error: unknown) => void;
}

type DiscoveredProvider = Pick<SignInOption, 'sendsIssuer'> & { readonly endpoints: SignInEndpoints };

interface Provider {
  readonly name: string;
  readonly entry: IdentityProviderEntry;
  readonly signIn: SignInEntry;
}

/**
 * Returns a function that lists the identity providers for sign-in. Endpoints that are not configured come from the OpenID
 * configuration of the issuer, which is cached for 10 minutes. Create one per process.
 */
export function createSignInOptions({ snapshot, http, clock, caches, reportError }: SignInOptionsDeps): ListSignInOptions {
  const cache = caches.create('sign_in_ways', {
    maxBytes,
    countBytes: createEntryCounter<DiscoveredProvider>((value) => JSON.stringify(value).length),
  });
  const discoveredProviders = new ExpiringCache<DiscoveredProvider>({ clock, store: cache, failureTtlMs });
  const failing = new Set<string>();
  const discoverNow = async ({
    name,
    entry: { issuer },
    signIn,
  }: Provider): Promise<{ value: DiscoveredProvider; ttlMs: number }> => {
    try {
      const value = await readProvider(http, issuer, signIn);
      failing.delete(issuer);
      return { value, ttlMs: providerTtlMs };
    } catch (error) {
      if (!failing.has(issuer)) reportError(`sign-in with the identity provider ${name} is unavailable`, error);
      failing.add(issuer);
      throw error;
    }
  };
  const toOption = async (provider: Provider): Promise<SignInOption> => {
    const { name, entry, signIn } = provider;
    const { clientId, displayName = name, scopes, token, parameters } = signIn;
    const discover = () => discoveredProviders.get(JSON.stringify([entry.issuer, signIn]), () => discoverNow(provider));
    const { endpoints = null, sendsIssuer = false } = getConfigured(signIn) ?? (await waitBriefly(discover(), clock)) ?? {};
    return { name, displayName, issuer: entry.issuer, clientId, scopes, token, parameters, sendsIssuer, endpoints };
  };
  return () => Promise.all(listProviders(snapshot()).map(toOption));
}

function listProviders({ configuration }: Pick<ConfigSnapshot, 'configuration'>): Provider[] {
  return Object.entries(configuration.identityProviders).flatMap(([name, entry]) =>
    entry.signIn === undefined ? [] : [{ name, entry, signIn: entry.signIn }],
  );
}

/** Returns the configured endpoints, or undefined if one of the two required ones must be discovered. */
function getConfigured(signIn: SignInEntry): DiscoveredProvider | undefined {
  const { authorizationEndpoint: authorization, tokenEndpoint: token, endSessionEndpoint, revocationEndpoint } = signIn;
  if (authorization === undefined || token === undefined) return undefined;
  return { sendsIssuer: false, endpoints: { authorization, token, ...toOptional(endSessionEndpoint, revocationEndpoint) } };
}

async function readProvider(http: HttpClient, issuer: string, signIn: SignInEntry): Promise<DiscoveredProvider> {
  const document = await readOpenIdConfiguration(http, issuer, AbortSignal.timeout(discoveryMs));
  const authorization = signIn.authorizationEndpoint ?? document.authorization_endpoint;
  const token = signIn.tokenEndpoint ?? document.token_endpoint;
  const endSession = signIn.endSessionEndpoint ?? document.end_session_endpoint;
  const revocation = signIn.revocationEndpoint ?? document.revocation_endpoint;
  if (!isIssuerEndpoint(issuer, authorization) || !isIssuerEndpoint(issuer, token))
    throw new IssuerError('its OpenID configuration has no valid https URLs for authorization and tokens');
  const sendsIssuer = document.authorization_response_iss_parameter_supported === true;
  const toUsable = (url: unknown): string | undefined => (isIssuerEndpoint(issuer, url) ? url : undefined);
  return { sendsIssuer, endpoints: { authorization, token, ...toOptional(toUsable(endSession), toUsable(revocation)) } };
}

function toOptional(endSession: string | undefined, revocation: string | undefined): Partial<SignInEndpoints> {
  return { ...(endSession !== undefined && { endSession }), ...(revocation !== undefined && { revocation }) };
}

/**
 * Returns the result if it arrives within `maxWaitMs`. Returns undefined if the request fails or takes longer. The request itself
 * continues.
 */
async function waitBriefly(discovery: Promise<DiscoveredProvider>, clock: Clock): Promise<DiscoveredProvider | undefined> {
  const waiting = new AbortController();
  const timeout = clock.sleep(maxWaitMs, waiting.signal).then(() => undefined);
  return Promise.race([discovery, timeout])
    .catch(() => undefined)
    .finally(() => waiting.abort());
}
