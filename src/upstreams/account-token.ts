import { createSign } from 'node:crypto';
import { toObject, tryParseJson } from '#base/json/json.ts';
import type { Fetch } from '#base/net/guarded-fetch.ts';
import type { Clock } from '#base/time/clock.ts';
import type { UpstreamKey } from '#contract/configuration/upstream-key.ts';
import { UpstreamError } from '#domain/upstreams/upstream.ts';

const scope = 'https://www.googleapis.com/auth/cloud-platform';
const grantType = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const assertionLifetimeSeconds = 3600;
/** A token counts as expired this long before it expires. */
const marginMs = 60_000;
const unauthorized = 401;
/** Statuses below 500 that do not mean that the service account is misconfigured: a timeout and a rate limit. */
const transientStatuses: ReadonlySet<number> = new Set([408, 429]);

type Account = Extract<UpstreamKey, { kind: 'account' }>;

interface TokenDeps {
  readonly fetch: Fetch;
  readonly clock: Pick<Clock, 'epochMs'>;
}

/** Access token of a Google Cloud service account (RFC 7523). It is fetched on demand, with at most one request at a time. */
export class AccountToken {
  readonly #account: Account;
  readonly #deps: TokenDeps;
  #pending: Promise<string> | undefined;
  #token: string | undefined;
  #endsAtMs = 0;

  constructor(account: Account, deps: TokenDeps) {
    this.#account = account;
    this.#deps = deps;
  }

  /** The token that was fetched last. */
  get lastToken(): string | undefined {
    return this.#token;
  }

  /** Returns the last token if it is valid for another minute, and a new one otherwise. Throws `UpstreamError` or `HttpError`. */
  getCurrent(): Promise<string> {
    if (this.#token !== undefined && this.#deps.clock.epochMs() < this.#endsAtMs - marginMs) return Promise.resolve(this.#token);
    this.#pending ??= this.#requestToken().finally(() => {
      this.#pending = undefined;
    });
    return this.#pending;
  }

  async #requestToken(): Promise<string> {
    const startedMs = this.#deps.clock.epochMs();
    const body = new URLSearchParams({ grant_type: grantType, assertion: this.#createAssertion(Math.floor(startedMs / 1000)) });
    const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' };
    const reply = await this.#deps.fetch(this.#account.tokenUri, { method: 'POST', headers, body: body.toString() });
    const value = tryParseJson(await reply.text());
    if (!reply.ok)
      throw createRejection(reply.status < 500 && !transientStatuses.has(reply.status) ? unauthorized : reply.status);
    const { access_token: token, expires_in: seconds } = toObject(value);
    if (typeof token !== 'string' || token === '') throw new UpstreamError('broken', 'The token endpoint returned no token.');
    this.#token = token;
    this.#endsAtMs = startedMs + (typeof seconds === 'number' ? seconds : 0) * 1000;
    return token;
  }

  #createAssertion(nowSeconds: number): string {
    const { clientEmail: iss, tokenUri: aud, privateKey } = this.#account;
    const claims = { iss, scope, aud, iat: nowSeconds, exp: nowSeconds + assertionLifetimeSeconds };
    const encodedParts = [{ alg: 'RS256', typ: 'JWT' }, claims].map((part) =>
      Buffer.from(JSON.stringify(part)).toString('base64url'),
    );
    const signedText = encodedParts.join('.');
    return `${signedText}.${sign(signedText, privateKey)}`;
  }
}

function sign(text: string, privateKey: string): string {
  try {
    return createSign('RSA-SHA256').update(text).sign(privateKey, 'base64url');
  } catch {
    throw createRejection(unauthorized);
  }
}

function createRejection(status: number): UpstreamError {
  return new UpstreamError('refused', `The token endpoint answered ${status}.`, { status });
}
