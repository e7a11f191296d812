import { hash } from 'node:crypto';
import type { Caches } from '#base/cache/bounded-cache.ts';
import { createEntryCounter, ExpiringCache, type ExpiringValue } from '#base/cache/expiring-cache.ts';
import { type HttpClient, HttpError, type HttpTimeouts } from '#base/http/client.ts';
import { openReply, readText } from '#base/http/read-reply.ts';
import { type JsonObject, toObject, tryParseJson } from '#base/json/json.ts';
import { raceAbort } from '#base/stream/race-abort.ts';
import type { Clock } from '#base/time/clock.ts';
import type { Authorization } from '#contract/configuration/authorization.ts';
import { ToolError } from '#domain/tools/tool.ts';

export type ClientCredentials = Extract<Authorization, { type: 'client_id_secret' }>;

const maxReplyBytes = 256 * 1024;
const defaultLifetimeMs = 300_000;
/** A token is renewed a tenth of its lifetime before it expires, at most this long before. */
const maxMarginMs = 60_000;
const maxCacheBytes = 4 * 1024 ** 2;

export interface TokenCacheOptions {
  /** HTTP client with a network guard. */
  readonly http: HttpClient;
  readonly clock: Clock;
  readonly caches: Caches;
  readonly timeouts: HttpTimeouts;
}

/**
 * Caches tokens of the client credentials grant (RFC 6749, 4.4) until shortly before they expire. All settings of a client
 * together form the key. Concurrent requests for the same key share one fetch. Create one per process.
 */
export class TokenCache {
  readonly #options: TokenCacheOptions;
  readonly #tokens: ExpiringCache<string>;

  constructor(options: TokenCacheOptions) {
    this.#options = options;
    const countBytes = createEntryCounter<string>((token) => token.length);
    const store = options.caches.create('client_tokens', { maxBytes: maxCacheBytes, countBytes });
    this.#tokens = new ExpiringCache({ clock: options.clock, store, failureTtlMs: 0 });
  }

  /**
   * Rejects with `ToolError`, or with the reason of the signal. If one waiting caller disconnects, the fetch continues for the
   * rest.
   */
  getToken(client: ClientCredentials, signal: AbortSignal): Promise<string> {
    const token = this.#tokens.get(computeKey(client), () => this.#fetch(client));
    return raceAbort(token, signal);
  }

  /** Deletes the token, unless a newer one has replaced it. */
  delete(client: ClientCredentials, token: string): void {
    this.#tokens.delete(computeKey(client), token);
  }

  async #fetch(client: ClientCredentials): Promise<ExpiringValue<string>> {
    const bodyFields = { client_id: client.client_id, client_secret: client.client_secret };
    let reply = await this.#sendRequest(client, bodyFields, {});
    // Some servers accept a client's secret only in the header (RFC 6749, 2.3.1).
    if (isInvalidClient(reply)) reply = await this.#sendRequest(client, {}, { authorization: toClientBasic(client) });
    const { status, body } = reply;
    const token = body.access_token;
    if (status !== 200 || typeof token !== 'string' || token === '')
      throw new ToolError(`cannot get a token: ${describeReply(reply)}`);
    if (typeof body.token_type === 'string' && body.token_type.toLowerCase() !== 'bearer') {
      throw new ToolError('cannot get a token: the token address returns tokens of a type other than bearer');
    }
    const lifetimeMs = toLifetimeMs(body.expires_in);
    return { value: token, ttlMs: lifetimeMs - Math.min(maxMarginMs, lifetimeMs / 10) };
  }

  async #sendRequest(
    client: ClientCredentials,
    fields: Record<string, string>,
    headers: Record<string, string>,
  ): Promise<TokenReply> {
    const form = new URLSearchParams({
      grant_type: 'client_credentials',
      ...fields,
      ...(client.scope !== undefined && { scope: client.scope }),
      ...(client.aud !== undefined && { audience: client.aud }),
    });
    const request = {
      method: 'POST' as const,
      url: new URL(client.token_url),
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        accept: 'application/json',
        'accept-encoding': 'identity',
        ...headers,
      },
      body: Buffer.from(form.toString()),
      timeouts: this.#options.timeouts,
    };
    try {
      const reply = await openReply(this.#options.http, request, AbortSignal.timeout(this.#options.timeouts.firstByteMs));
      return { status: reply.status, body: toObject(tryParseJson(await readText(reply, maxReplyBytes))) };
    } catch (error) {
      const reason = error instanceof HttpError ? error.message : 'the token address did not answer in time';
      throw new ToolError(`cannot get a token: ${reason}`, error);
    }
  }
}

interface TokenReply {
  readonly status: number;
  readonly body: JsonObject;
}

function isInvalidClient({ status, body }: TokenReply): boolean {
  return status === 401 || (status === 400 && body.error === 'invalid_client');
}

/** Encodes both parts as form values, before they are joined (RFC 6749, 2.3.1). */
function toClientBasic({ client_id, client_secret }: ClientCredentials): string {
  const encode = (text: string): string => new URLSearchParams({ '': text }).toString().slice(1);
  return `Basic ${Buffer.from(`${encode(client_id)}:${encode(client_secret)}`).toString('base64')}`;
}

/** Describes a reply by its status, and by its error code if the code has the usual form. Other text could contain secrets. */
function describeReply({ status, body }: TokenReply): string {
  const code = typeof body.error === 'string' && /^[\w.-]{1,64}$/.test(body.error) ? ` ${body.error}` : '';
  return `the token address answered ${status}${code}`;
}

function toLifetimeMs(expiresIn: unknown): number {
  const seconds = Number(expiresIn);
  return expiresIn !== null && Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : defaultLifetimeMs;
}

/** Hashes all settings, so that cache keys contain no secrets. */
function computeKey({ client_id, client_secret, token_url, scope, aud }: ClientCredentials): string {
  const settings = JSON.stringify([client_id, client_secret, token_url, scope ?? null, aud ?? null]);
  return hash('sha256', settings, 'base64');
}
