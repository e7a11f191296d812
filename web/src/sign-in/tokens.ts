import { isJsonObject, type JsonObject, toObject, toText, tryParseJson } from '#base/json/json.ts';
import { SignInError } from './sign-in-error.ts';
import type { ReadyProvider, Tokens } from './sign-in-storage.ts';

const timeoutMs = 20_000;
const maxMarginMs = 30_000;

/** Calls the token endpoint of a provider. Throws `SignInError`. */
export async function requestTokens(provider: ReadyProvider, form: Readonly<Record<string, string>>): Promise<Tokens> {
  const { displayName: name, clientId, parameters, endpoints } = provider;
  const resource = parameters.resource === undefined ? {} : { resource: parameters.resource };
  const answer = await fetch(endpoints.token, {
    method: 'POST',
    headers: { accept: 'application/json' },
    body: new URLSearchParams({ ...form, ...resource, client_id: clientId }),
    signal: AbortSignal.timeout(timeoutMs),
    credentials: 'omit',
    cache: 'no-store',
    redirect: 'error',
  })
    .then(async (response) => ({ status: response.status, body: tryParseJson(await response.text()) }))
    .catch((error: unknown) => {
      throw new SignInError({ kind: 'unreachable', name }, error);
    });
  if (answer.status >= 500 || answer.status === 429) throw new SignInError({ kind: 'unavailable', name });
  if (!isJsonObject(answer.body)) throw new SignInError({ kind: 'unusable', name });
  if (answer.status !== 200) throw new SignInError({ kind: 'rejected', name, ...toOAuthError(answer.body) });
  return toTokens(answer.body, provider, Date.now());
}

/**
 * Revokes a refresh token at the provider (RFC 7009), even while the page closes. Never rejects, because the user signs out
 * regardless of the result.
 */
export async function revokeToken({ clientId, endpoints }: ReadyProvider, refresh: string): Promise<void> {
  if (endpoints.revocation === undefined) return;
  await fetch(endpoints.revocation, {
    method: 'POST',
    body: new URLSearchParams({ token: refresh, token_type_hint: 'refresh_token', client_id: clientId }),
    signal: AbortSignal.timeout(timeoutMs),
    credentials: 'omit',
    keepalive: true,
    redirect: 'error',
  }).catch(() => undefined);
}

function toOAuthError({ error, error_description: detail }: JsonObject): { code: string; detail: string } {
  return { code: toText(error) || 'invalid_request', detail: toText(detail) };
}

/** Parses the response of a token endpoint. Throws `SignInError` if it lacks the token for the service. */
export function toTokens(body: JsonObject, { token, displayName: name }: ReadyProvider, nowMs: number): Tokens {
  const serviceToken = toText(body[token]);
  if (serviceToken === '') throw new SignInError({ kind: 'unusable', name });
  const lifetimeMs =
    1000 *
    (token === 'access_token'
      ? Number(body.expires_in ?? computeLifetimeSeconds(serviceToken))
      : computeLifetimeSeconds(serviceToken));
  return {
    serviceToken,
    refresh: toText(body.refresh_token) || undefined,
    id: toText(body.id_token) || undefined,
    renewAtMs: lifetimeMs > 0 ? nowMs + lifetimeMs - Math.min(maxMarginMs, lifetimeMs / 4) : null,
  };
}

/** Returns the unverified claims of a token. Empty if they cannot be read. */
export function decodeClaims(token: string): JsonObject {
  const [, payload = ''] = token.split('.');
  try {
    const bytes = Uint8Array.from(atob(payload.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.charCodeAt(0));
    return toObject(tryParseJson(new TextDecoder().decode(bytes)));
  } catch {
    return {};
  }
}

/** Computes the lifetime from the clock of the provider only, because the browser clock may be wrong. NaN if it is unknown. */
function computeLifetimeSeconds(token: string): number {
  const { exp, iat } = decodeClaims(token);
  return Number(exp) - Number(iat);
}
