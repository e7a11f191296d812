import { createHash } from 'node:crypto';
import type { Caches } from '#base/cache/bounded-cache.ts';
import { ExpiringCache, type ExpiringValue, expiringBytes } from '#base/cache/expiring-cache.ts';
import { type HttpClient, HttpFault, type HttpTimeouts } from '#base/http/client.ts';
import { openReply, readText } from '#base/http/read-reply.ts';
import { isJsonObject, type JsonObject, tryParseJson } from '#base/json/json.ts';
import { untilAborted } from '#base/stream/until-aborted.ts';
import type { Clock } from '#base/time/clock.ts';
import type { Authorization } from '#contract/configuration/authorization.ts';
import { ToolFault } from '#domain/tools/tool.ts';

export type ClientCredentials = Extract<Authorization, { type: 'client_id_secret' }>;

const maxReplyBytes = 256 * 1024;
const defaultLifeMs = 300_000;
const longestMarginMs = 60_000;
const maxBytes = 4 * 1024 ** 2;

export interface TokenCacheOptions {
  /** Guarded. */
  readonly http: HttpClient;
  readonly clock: Clock;
  readonly caches: Caches;
  readonly timeouts: HttpTimeouts;
}

/**
 * Tokens of the client credentials grant (RFC 6749, 4.4), kept until shortly before they expire. A token belongs to all of
 * its client's settings together, and one fetch at a time is made for them. One for the process.
 */
export class TokenCache {
  readonly #options: TokenCacheOptions;
  readonly #tokens: ExpiringCache<string>;

  constructor(options: TokenCacheOptions) {
    this.#options = options;
    const kept = options.caches.open('client_tokens', { maxBytes, bytesOf: expiringBytes<string>((token) => token.length) });
    this.#tokens = new ExpiringCache({ clock: options.clock, kept, failureFreshMs: 0 });
  }

  /** Rejects with ToolFault. A waiter that leaves does not end the fetch for the others. */
  token(client: ClientCredentials, signal: AbortSignal): Promise<string> {
    return untilAborted(
      this.#tokens.get(keyOf(client), () => this.#fetch(client)),
      signal,
    );
  }

  /** Drops the token, unless a newer one took its place. */
  forget(client: ClientCredentials, token: string): void {
    this.#tokens.forget(keyOf(client), token);
  }

  async #fetch(client: ClientCredentials): Promise<ExpiringValue<string>> {
    const inBody = { client_id: client.client_id, client_secret: client.client_secret };
    let reply = await this.#ask(client, inBody, {});
    if (isInvalidClient(reply)) reply = await this.#ask(client, {}, { authorization: toClientBasic(client) });
    const { status, body } = reply;
    const token = body.access_token;
    if (status !== 200 || typeof token !== 'string' || token === '') throw new ToolFault(`no token was given: ${explain(reply)}`);
    if (typeof body.token_type === 'string' && body.token_type.toLowerCase() !== 'bearer') {
      throw new ToolFault('no token was given: the token address gives tokens of a type other than bearer');
    }
    const lifeMs = toLifeMs(body.expires_in);
    return { value: token, freshMs: lifeMs - Math.min(longestMarginMs, lifeMs / 10) };
  }

  async #ask(client: ClientCredentials, fields: Record<string, string>, headers: Record<string, string>): Promise<TokenReply> {
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
      const body = tryParseJson(await readText(reply, maxReplyBytes));
      return { status: reply.status, body: isJsonObject(body) ? body : {} };
    } catch (thrown) {
      const why = thrown instanceof HttpFault ? thrown.message : 'the token address did not answer in time';
      throw new ToolFault(`no token was given: ${why}`, thrown);
    }
  }
}

interface TokenReply {
  readonly status: number;
  readonly body: JsonObject;
}

/** Some servers take a client's secret in the header only (RFC 6749, 2.3.1). */
function isInvalidClient({ status, body }: TokenReply): boolean {
  return status === 401 || (status === 400 && body.error === 'invalid_client');
}

function toClientBasic({ client_id, client_secret }: ClientCredentials): string {
  const encode = (text: string): string => new URLSearchParams({ '': text }).toString().slice(1);
  return `Basic ${Buffer.from(`${encode(client_id)}:${encode(client_secret)}`).toString('base64')}`;
}

/** The server's error code if it has the form of one: its free text could hold anything. */
function explain({ status, body }: TokenReply): string {
  const code = typeof body.error === 'string' && /^[\w.-]{1,64}$/.test(body.error) ? ` ${body.error}` : '';
  return `the token address answered ${status}${code}`;
}

function toLifeMs(expiresIn: unknown): number {
  const seconds = Number(expiresIn);
  return expiresIn !== null && Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : defaultLifeMs;
}

/** The settings as one hash: no secret is kept as a key, and no setting can be left out of it. */
function keyOf({ client_id, client_secret, token_url, scope, aud }: ClientCredentials): string {
  const settings = JSON.stringify([client_id, client_secret, token_url, scope ?? null, aud ?? null]);
  return createHash('sha256').update(settings).digest('base64');
}
