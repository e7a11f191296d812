import { isJsonObject, type JsonObject, tryParseJson } from '#base/json/json.ts';
import type { ReadyWay, Tokens } from './kept.ts';
import { SignInFault } from './sign-in-fault.ts';

const patienceMs = 20_000;
const longestMarginMs = 30_000;

/** Asks the token endpoint of a provider. Throws SignInFault. */
export async function requestTokens(way: ReadyWay, form: Readonly<Record<string, string>>): Promise<Tokens> {
  const { displayName: name, clientId, parameters, endpoints } = way;
  const resource = parameters.resource === undefined ? {} : { resource: parameters.resource };
  const answer = await fetch(endpoints.token, {
    method: 'POST',
    headers: { accept: 'application/json' },
    body: new URLSearchParams({ ...form, ...resource, client_id: clientId }),
    signal: AbortSignal.timeout(patienceMs),
    credentials: 'omit',
    cache: 'no-store',
    redirect: 'error',
  })
    .then(async (response) => ({ status: response.status, body: tryParseJson(await response.text()) }))
    .catch((thrown: unknown) => {
      throw new SignInFault({ kind: 'unreachable', name }, thrown);
    });
  if (answer.status >= 500 || answer.status === 429) throw new SignInFault({ kind: 'unavailable', name });
  if (!isJsonObject(answer.body)) throw new SignInFault({ kind: 'unusable', name });
  if (answer.status !== 200) throw new SignInFault({ kind: 'refused', name, ...errorOf(answer.body) });
  return toTokens(answer.body, way, Date.now());
}

/**
 * Tells a provider that a refresh token is used no more (RFC 7009), also while the browser leaves the page. Never rejects: who
 * signs out does so whether or not the provider learns of it.
 */
export async function revokeToken({ clientId, endpoints }: ReadyWay, refresh: string): Promise<void> {
  if (endpoints.revocation === undefined) return;
  await fetch(endpoints.revocation, {
    method: 'POST',
    body: new URLSearchParams({ token: refresh, token_type_hint: 'refresh_token', client_id: clientId }),
    signal: AbortSignal.timeout(patienceMs),
    credentials: 'omit',
    keepalive: true,
    redirect: 'error',
  }).catch(() => undefined);
}

function errorOf({ error, error_description: detail }: JsonObject): { code: string; detail: string } {
  return { code: textOf(error) ?? 'invalid_request', detail: textOf(detail) ?? '' };
}

/** Reads the answer of a token endpoint. Throws SignInFault where the token that is to be sent is not in it. */
export function toTokens(body: JsonObject, { token, displayName: name }: ReadyWay, nowMs: number): Tokens {
  const sent = textOf(body[token]);
  if (sent === undefined) throw new SignInFault({ kind: 'unusable', name });
  const lifeMs = 1000 * (token === 'access_token' ? Number(body.expires_in ?? lifeSecondsOf(sent)) : lifeSecondsOf(sent));
  return {
    sent,
    refresh: textOf(body.refresh_token),
    id: textOf(body.id_token),
    renewAtMs: lifeMs > 0 ? nowMs + lifeMs - Math.min(longestMarginMs, lifeMs / 4) : null,
  };
}

/** The claims of a token, which nobody has verified; none where it has none to read. */
export function claimsOf(token: string): JsonObject {
  const [, payload = ''] = token.split('.');
  try {
    const bytes = Uint8Array.from(atob(payload.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.charCodeAt(0));
    const claims = tryParseJson(new TextDecoder().decode(bytes));
    return isJsonObject(claims) ? claims : {};
  } catch {
    return {};
  }
}

/** By the clock of the provider alone, as that of the browser may be wrong. */
function lifeSecondsOf(token: string): number {
  const { exp, iat } = claimsOf(token);
  return Number(exp) - Number(iat);
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
