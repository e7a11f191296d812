import { createSign } from 'node:crypto';
import { isJsonObject, tryParseJson } from '#base/json/json.ts';
import type { Fetch } from '#base/net/guarded-fetch.ts';
import type { Clock } from '#base/time/clock.ts';
import type { UpstreamKey } from '#contract/configuration/upstream-key.ts';
import { UpstreamFault } from '#domain/upstreams/upstream.ts';

const scope = 'https://www.googleapis.com/auth/cloud-platform';
const grantType = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const assertedSeconds = 3600;
/** How long before its end a token counts as over. */
const spareMs = 60_000;
const unauthorized = 401;

type Account = Extract<UpstreamKey, { kind: 'account' }>;

interface TokenDeps {
  readonly fetch: Fetch;
  readonly clock: Pick<Clock, 'epochMs'>;
}

/** The access token of a service account of Google Cloud (RFC 7523), fetched when it is needed, one fetch at a time. */
export class AccountToken {
  readonly #account: Account;
  readonly #deps: TokenDeps;
  #coming: Promise<string> | undefined;
  #token: string | undefined;
  #endsAtMs = 0;

  constructor(account: Account, deps: TokenDeps) {
    this.#account = account;
    this.#deps = deps;
  }

  /** The token that was given last, if any. */
  get last(): string | undefined {
    return this.#token;
  }

  /** A token that holds for at least another minute. Throws UpstreamFault or HttpFault. */
  current(): Promise<string> {
    if (this.#token !== undefined && this.#deps.clock.epochMs() < this.#endsAtMs - spareMs) return Promise.resolve(this.#token);
    this.#coming ??= this.#ask().finally(() => {
      this.#coming = undefined;
    });
    return this.#coming;
  }

  async #ask(): Promise<string> {
    const startedMs = this.#deps.clock.epochMs();
    const body = new URLSearchParams({ grant_type: grantType, assertion: this.#assertion(Math.floor(startedMs / 1000)) });
    const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' };
    const reply = await this.#deps.fetch(this.#account.tokenUri, { method: 'POST', headers, body: body.toString() });
    const value = tryParseJson(await reply.text());
    // What the issuer refuses is our misconfiguration, whatever status it has for that.
    if (!reply.ok) throw refused(reply.status < 500 ? unauthorized : reply.status);
    const { access_token: token, expires_in: seconds } = isJsonObject(value) ? value : {};
    if (typeof token !== 'string' || token === '') throw new UpstreamFault('broken', 'The issuer of its token sent none.');
    this.#token = token;
    this.#endsAtMs = startedMs + (typeof seconds === 'number' ? seconds : 0) * 1000;
    return token;
  }

  #assertion(nowSeconds: number): string {
    const { clientEmail: iss, tokenUri: aud, privateKey } = this.#account;
    const claims = { iss, scope, aud, iat: nowSeconds, exp: nowSeconds + assertedSeconds };
    const signed = [{ alg: 'RS256', typ: 'JWT' }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'));
    return `${signed.join('.')}.${sign(signed.join('.'), privateKey)}`;
  }
}

function sign(text: string, privateKey: string): string {
  try {
    return createSign('RSA-SHA256').update(text).sign(privateKey, 'base64url');
  } catch {
    throw refused(unauthorized);
  }
}

function refused(status: number): UpstreamFault {
  return new UpstreamFault('refused', `The issuer of its token answered ${status}.`, { status });
}
