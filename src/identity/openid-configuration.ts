import type { HttpClient } from '#base/http/client.ts';
import { openReply, readText } from '#base/http/read-reply.ts';
import { joinPath } from '#base/http/url-path.ts';
import { isJsonObject, type JsonObject, tryParseJson } from '#base/json/json.ts';
import { isSecureUrl } from '#contract/configuration/access.ts';

const timeouts = { connectMs: 5_000, firstByteMs: 5_000, idleMs: 5_000 };
const maxReplyBytes = 1024 * 1024;

/** The issuer responded, but the response is invalid. */
export class IssuerError extends Error {
  override readonly name = 'IssuerError';
}

/**
 * Returns the OpenID configuration of an issuer. The document must name the same issuer (OpenID Connect Discovery 1.0, section
 * 4). Throws IssuerError or HttpError.
 */
export async function readOpenIdConfiguration(http: HttpClient, issuer: string, signal: AbortSignal): Promise<JsonObject> {
  const document = await fetchObject(http, joinPath(new URL(issuer), '.well-known/openid-configuration').href, signal);
  if (document.issuer !== issuer) throw new IssuerError('its OpenID configuration names a different issuer');
  return document;
}

/** Returns whether a URL from an issuer's configuration is acceptable: https, or http on loopback if the issuer also uses http. */
export function isIssuerEndpoint(issuer: string, url: unknown): url is string {
  return typeof url === 'string' && isSecureUrl(url) && (url.startsWith('https:') || issuer.startsWith('http:'));
}

/** Fetches a JSON object from an issuer. Throws IssuerError or HttpError. */
export async function fetchObject(http: HttpClient, url: string, signal: AbortSignal): Promise<JsonObject> {
  const headers = { accept: 'application/json, application/jwk-set+json', 'accept-encoding': 'identity' };
  const reply = await openReply(http, { method: 'GET', url: new URL(url), headers, body: null, timeouts }, signal);
  const body = tryParseJson(await readText(reply, maxReplyBytes));
  if (reply.status !== 200) throw new IssuerError(`its server responded with status ${reply.status}`);
  if (!isJsonObject(body)) throw new IssuerError('its server did not respond with a JSON object');
  return body;
}
