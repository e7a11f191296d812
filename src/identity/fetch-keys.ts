import { createLocalJWKSet, type JSONWebKeySet, type LocalJWKSet } from 'jose';
import type { HttpClient } from '#base/http/client.ts';
import { isJsonObject } from '#base/json/json.ts';
import type { IdentityProviderEntry } from '#contract/configuration/access.ts';
import { fetchObject, isIssuerEndpoint, ProviderError, readOpenIdConfiguration } from './openid-configuration.ts';

const totalMs = 10_000;
/** Maximum number of keys. A token without a key id is tried with each of them. */
const maxKeys = 100;

/** Public keys for signature verification. */
export type KeySet = LocalJWKSet;

/**
 * Fetches the public keys of an issuer from `jwksUrl`, or from the URL in the issuer's OpenID configuration if none is
 * configured. Throws ProviderError.
 */
export async function fetchKeys(
  http: HttpClient,
  { issuer, jwksUrl }: Pick<IdentityProviderEntry, 'issuer' | 'jwksUrl'>,
): Promise<KeySet> {
  const signal = AbortSignal.timeout(totalMs);
  const url = jwksUrl ?? (await discover(http, issuer, signal));
  const { keys } = await fetchObject(http, url, signal);
  const isKeySet = Array.isArray(keys) && keys.length > 0 && keys.length <= maxKeys && keys.every(isJsonObject);
  if (!isKeySet) throw new ProviderError(`its key URL does not return a set of 1 to ${maxKeys} keys`);
  return createLocalJWKSet({ keys } as JSONWebKeySet);
}

async function discover(http: HttpClient, issuer: string, signal: AbortSignal): Promise<string> {
  const { jwks_uri: url } = await readOpenIdConfiguration(http, issuer, signal);
  if (!isIssuerEndpoint(issuer, url)) throw new ProviderError('its OpenID configuration has no valid https URL in jwks_uri');
  return url;
}
