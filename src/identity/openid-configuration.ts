import { createLocalJWKSet, type JSONWebKeySet, type LocalJWKSet } from 'jose';
import type { HttpClient } from '#base/http/client.ts';
import { openReply, readText } from '#base/http/read-reply.ts';
import { joinPath } from '#base/http/url-path.ts';
import { isJsonObject, type JsonObject, tryParseJson } from '#base/json/json.ts';
import { type IdentityProviderEntry, isSecureUrl } from '#contract/configuration/access.ts';

const timeouts = { connectMs: 5_000, firstByteMs: 5_000, idleMs: 5_000 };
const maxReplyBytes = 1024 * 1024;

const totalMs = 10_000;
/** A token that names no key is tried with each of them. */
const maxKeys = 100;

/** The issuer answered, but not with what it should. */
export class ProviderFault extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'ProviderFault';
  }
}

/** What an issuer says of itself. OpenID Connect Discovery 1.0, 4: the document must name the issuer it was asked of. */
export async function readOpenIdConfiguration(http: HttpClient, issuer: string, signal: AbortSignal): Promise<JsonObject> {
  const document = await fetchObject(http, joinPath(new URL(issuer), '.well-known/openid-configuration').href, signal);
  if (document.issuer !== issuer) throw new ProviderFault('its OpenID configuration names another issuer');
  return document;
}

/** An address that an issuer names: https, or http if it is itself reached so. */
export function isEndpointOf(issuer: string, url: unknown): url is string {
  return typeof url === 'string' && isSecureUrl(url) && (url.startsWith('https:') || issuer.startsWith('http:'));
}

/** A JSON object at an address of an issuer. Throws ProviderFault or HttpFault. */
async function fetchObject(http: HttpClient, url: string, signal: AbortSignal): Promise<JsonObject> {
  const headers = { accept: 'application/json, application/jwk-set+json', 'accept-encoding': 'identity' };
  const reply = await openReply(http, { method: 'GET', url: new URL(url), headers, body: null, timeouts }, signal);
  const body = tryParseJson(await readText(reply, maxReplyBytes));
  if (reply.status !== 200) throw new ProviderFault(`its server answered ${reply.status}`);
  if (!isJsonObject(body)) throw new ProviderFault('its server answered with what is no JSON object');
  return body;
}

/** Public keys that signatures are verified with. */
export type KeySet = LocalJWKSet;

/** Fetches the public keys of an issuer; if no address of them is configured, that of its OpenID configuration. */
export async function fetchKeys(
  http: HttpClient,
  { issuer, jwksUrl }: Pick<IdentityProviderEntry, 'issuer' | 'jwksUrl'>,
): Promise<KeySet> {
  const signal = AbortSignal.timeout(totalMs);
  const url = jwksUrl ?? (await discover(http, issuer, signal));
  const { keys } = await fetchObject(http, url, signal);
  const isKeySet = Array.isArray(keys) && keys.length > 0 && keys.length <= maxKeys && keys.every(isJsonObject);
  if (!isKeySet) throw new ProviderFault(`there is no set of 1 to ${maxKeys} keys at its address`);
  return createLocalJWKSet({ keys } as JSONWebKeySet);
}

async function discover(http: HttpClient, issuer: string, signal: AbortSignal): Promise<string> {
  const { jwks_uri: url } = await readOpenIdConfiguration(http, issuer, signal);
  if (!isEndpointOf(issuer, url)) throw new ProviderFault('its OpenID configuration names no https address of its keys');
  return url;
}
