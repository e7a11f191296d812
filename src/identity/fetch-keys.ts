import { createLocalJWKSet, type JSONWebKeySet, type LocalJWKSet } from 'jose';
import type { HttpClient } from '#base/http/client.ts';
import { openReply, readText } from '#base/http/read-reply.ts';
import { isJsonObject, type JsonObject, tryParseJson } from '#base/json.ts';
import { type IdentityProviderEntry, isSecureUrl } from '#contract/configuration/access.ts';

const timeouts = { connectMs: 5_000, firstByteMs: 5_000, idleMs: 5_000 };
const totalMs = 10_000;
const maxReplyBytes = 1024 * 1024;
/** A token that names no key is tried with each of them. */
const maxKeys = 100;

/** Public keys that signatures are verified with. */
export type KeySet = LocalJWKSet;

/** The issuer answered, but not with its keys. */
class KeysFault extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'KeysFault';
  }
}

/** Fetches the public keys of an issuer; where no address of them is configured, that of its OpenID configuration. */
export async function fetchKeys(
  http: HttpClient,
  { issuer, jwksUrl }: Pick<IdentityProviderEntry, 'issuer' | 'jwksUrl'>,
): Promise<KeySet> {
  const signal = AbortSignal.timeout(totalMs);
  const url = jwksUrl ?? (await discover(http, issuer, signal));
  const { keys } = await fetchObject(http, url, signal);
  const isKeySet = Array.isArray(keys) && keys.length > 0 && keys.length <= maxKeys && keys.every(isJsonObject);
  if (!isKeySet) throw new KeysFault(`there is no set of 1 to ${maxKeys} keys at its address`);
  return createLocalJWKSet({ keys } as JSONWebKeySet);
}

/** OpenID Connect Discovery 1.0, 4: the document must name the issuer it was asked of. */
async function discover(http: HttpClient, issuer: string, signal: AbortSignal): Promise<string> {
  const document = await fetchObject(http, `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`, signal);
  const { issuer: named, jwks_uri: url } = document;
  if (named !== issuer) throw new KeysFault('its OpenID configuration names another issuer');
  const isSecure = typeof url === 'string' && isSecureUrl(url) && (url.startsWith('https:') || issuer.startsWith('http:'));
  if (!isSecure) throw new KeysFault('its OpenID configuration names no https address of its keys');
  return url;
}

async function fetchObject(http: HttpClient, url: string, signal: AbortSignal): Promise<JsonObject> {
  const headers = { accept: 'application/json, application/jwk-set+json', 'accept-encoding': 'identity' };
  const reply = await openReply(http, { method: 'GET', url: new URL(url), headers, body: null, timeouts }, signal);
  const body = tryParseJson(await readText(reply, maxReplyBytes));
  if (reply.status !== 200) throw new KeysFault(`its server answered ${reply.status}`);
  if (!isJsonObject(body)) throw new KeysFault('its server answered with what is no JSON object');
  return body;
}
