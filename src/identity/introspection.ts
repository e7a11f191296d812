import { isIPv6 } from 'node:net';
import type { BoundedCache, Caches } from '#base/cache/bounded-cache.ts';
import { type HttpClient, HttpError } from '#base/http/client.ts';
import { openReply, readText } from '#base/http/read-reply.ts';
import { isJsonObject, type JsonObject, tryParseJson } from '#base/json/json.ts';
import type { Clock } from '#base/time/clock.ts';
import type { IdentityProviderEntry, IntrospectionEntry } from '#contract/configuration/access.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { createUnauthorizedError } from '#domain/callers/identify.ts';
import { IssuerError } from './openid-configuration.ts';

const timeoutMs = 5_000;
const timeouts = { connectMs: timeoutMs, firstByteMs: timeoutMs, idleMs: timeoutMs };
const maxReplyBytes = 64 * 1024;
const clockToleranceMs = 30_000;
const retryAfterSeconds = 5;
/** Maximum number of tokens that a node introspects concurrently. */
const maxConcurrent = 32;
/** Maximum burst of unknown tokens from one address. Its budget grows by one token per second. */
const maxUnknownTokens = 30;
const rejectionMs = 10_000;
/** Approximate memory use of a cached rejection, or of the budget of an address, in bytes. */
const entryBytes = 200;
const maxGuardBytes = 1024 * 1024;
/** Types of tokens that give access. Parley rejects refresh tokens, ID tokens, and tokens that require proof of possession. */
const accessTypePattern = /^(bearer|access|access_token|(application\/)?(([\w.]+-)*at\+)?jwt)$/i;

/** An identity provider that introspects tokens. */
export interface IntrospectionProvider {
  readonly name: string;
  readonly entry: IdentityProviderEntry & { readonly introspection: IntrospectionEntry };
}

/** A token of a request, and the address of the client. */
export interface IntrospectionRequest {
  readonly token: string;
  /** Digest of the token, for caches. */
  readonly digest: string;
  readonly address: string;
}

/** Claims of an active token, and the provider that introspected it. */
export interface ActiveToken<Provider> {
  readonly provider: Provider;
  readonly claims: JsonObject;
  /** Time in milliseconds during which the result is valid. */
  readonly validMs: number;
}

/** Unknown tokens that an address may still send. */
interface Budget {
  remaining: number;
  atMs: number;
}

/**
 * Protects identity providers from random tokens. It bounds the concurrent introspections of a node, and the unknown tokens of a
 * client address. Create one per process.
 */
export class IntrospectionGuard {
  readonly #clock: Clock;
  readonly #budgets: BoundedCache<Budget>;
  #running = 0;

  constructor(clock: Clock, caches: Caches) {
    this.#clock = clock;
    this.#budgets = caches.create('unknown_token_budgets', { maxBytes: maxGuardBytes, countBytes: () => entryBytes });
  }

  /**
   * Runs an introspection. Throws `request_limit_exceeded` if the address sent too many unknown tokens, or `overloaded` if too
   * many introspections are running. `isExempt` returns whether a token is not counted if its introspection fails with this error.
   */
  async run<Result>(address: string, introspect: () => Promise<Result>, isExempt: (error: unknown) => boolean): Promise<Result> {
    const budget = this.#findBudget(toNetwork(address));
    if (budget.remaining < 1)
      throw new ParleyError(
        'request_limit_exceeded',
        'Too many unknown tokens come from this address. Send a valid token, or wait.',
        { retryAfterSeconds },
      );
    if (this.#running >= maxConcurrent)
      throw new ParleyError('overloaded', 'Parley is checking too many tokens. Send the request again later.', {
        retryAfterSeconds: 1,
      });
    budget.remaining -= 1;
    this.#running += 1;
    try {
      const result = await introspect();
      budget.remaining += 1;
      return result;
    } catch (error) {
      if (isExempt(error)) budget.remaining += 1;
      throw error;
    } finally {
      this.#running -= 1;
    }
  }

  #findBudget(network: string): Budget {
    const nowMs = this.#clock.nowMs();
    const budget = this.#budgets.find(network) ?? { remaining: maxUnknownTokens, atMs: nowMs };
    budget.remaining = Math.min(maxUnknownTokens, budget.remaining + (nowMs - budget.atMs) / 1000);
    budget.atMs = nowMs;
    this.#budgets.set(network, budget);
    return budget;
  }
}

/** Returns the network of a client: an IPv4 address, or the first 64 bits of an IPv6 address. */
function toNetwork(address: string): string {
  if (!isIPv6(address)) return address;
  const [head = '', tail] = address.split('::').map((part) => part.split(':').filter((group) => group !== ''));
  const zeros = tail === undefined ? [] : Array<string>(Math.max(0, 8 - head.length - tail.length)).fill('0');
  const groups = [...head, ...zeros, ...(tail ?? [])].slice(0, 4);
  return groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':');
}

export interface IntrospectionDeps {
  readonly http: HttpClient;
  readonly clock: Clock;
  readonly caches: Caches;
  readonly guard: IntrospectionGuard;
  /** Called on the first failure of a provider, and again only after a success. */
  readonly reportError: (message: string, error: unknown) => void;
}

/**
 * Introspects tokens with the providers of one configuration, in order (RFC 7662). Rejections are cached for 10 seconds. The
 * caller caches active tokens.
 */
export class Introspection<Provider extends IntrospectionProvider> {
  readonly #deps: IntrospectionDeps;
  readonly #providers: readonly Provider[];
  /** Rejected tokens by digest, with the message and the time until which they stay rejected. */
  readonly #rejections: BoundedCache<{ readonly message: string; readonly untilMs: number }>;
  readonly #failing = new Set<string>();

  constructor(providers: readonly Provider[], deps: IntrospectionDeps) {
    this.#providers = providers;
    this.#deps = deps;
    this.#rejections = deps.caches.create('rejected_tokens', {
      maxBytes: maxGuardBytes,
      countBytes: ({ message }) => entryBytes + message.length,
    });
  }

  /**
   * Returns the result of `accept` for an active token. Throws `invalid_token` if `accept` does, or if no provider accepts the
   * token. Throws `overloaded` if a provider is unavailable. Also throws the errors of `IntrospectionGuard.run`.
   */
  async introspect<Result>(
    { token, digest, address }: IntrospectionRequest,
    accept: (active: ActiveToken<Provider>) => Result,
  ): Promise<Result> {
    const { clock, guard } = this.#deps;
    const rejection = this.#rejections.find(digest);
    if (rejection !== undefined && rejection.untilMs > clock.nowMs())
      throw createUnauthorizedError('invalid_token', rejection.message);
    try {
      return await guard.run(address, async () => accept(await this.#introspectWithAny(token)), isConnectionError);
    } catch (error) {
      if (error instanceof ParleyError && error.status === 401)
        this.#rejections.set(digest, { message: error.message, untilMs: clock.nowMs() + rejectionMs });
      throw error;
    }
  }

  async #introspectWithAny(token: string): Promise<ActiveToken<Provider>> {
    let unavailable: ParleyError | undefined;
    let rejection = createUnauthorizedError('invalid_token', 'The token is unknown, expired, or revoked. Get a new one.');
    for (const provider of this.#providers) {
      try {
        const claims = await this.#introspectWith(provider, token);
        if (claims.active === true) return { provider, claims, validMs: this.#requireValid(claims, provider) };
      } catch (error) {
        if (error instanceof ParleyError && error.status === 401) rejection = error;
        else unavailable = toUnavailable(error);
      }
    }
    throw unavailable ?? rejection;
  }

  async #introspectWith({ name, entry: { introspection } }: Provider, token: string): Promise<JsonObject> {
    try {
      const claims = await requestIntrospection(this.#deps.http, introspection, token);
      this.#failing.delete(name);
      return claims;
    } catch (error) {
      if (!this.#failing.has(name)) this.#deps.reportError(`cannot introspect tokens with the identity provider ${name}`, error);
      this.#failing.add(name);
      throw error;
    }
  }

  /** Checks the claims that are present, and returns how long the token can be cached. Throws `invalid_token`. */
  #requireValid(claims: JsonObject, { entry }: Provider): number {
    const nowMs = this.#deps.clock.epochMs();
    const { iss, aud } = claims;
    if (isPresent(iss) && iss !== entry.issuer)
      throw createUnauthorizedError('invalid_token', 'The token has an unexpected issuer.');
    if (isPresent(aud) && entry.audience !== undefined && ![aud].flat().includes(entry.audience))
      throw createUnauthorizedError('invalid_token', 'The token was issued for a different audience.');
    const types = [claims.token_type, claims.token_use, claims.typ].filter(isPresent);
    if (!types.every((type) => typeof type === 'string' && accessTypePattern.test(type)))
      throw createUnauthorizedError('invalid_token', 'The token has a type that gives no access. Send an access token.');
    const [expiresAtMs, startsAtMs] = [toMs(claims, 'exp'), toMs(claims, 'nbf')];
    if (expiresAtMs !== undefined && expiresAtMs + clockToleranceMs <= nowMs)
      throw createUnauthorizedError('invalid_token', 'The token has expired. Get a new one.');
    if (startsAtMs !== undefined && startsAtMs - clockToleranceMs > nowMs)
      throw createUnauthorizedError('invalid_token', 'The token is not yet valid.');
    const cacheMs = entry.introspection.cacheSeconds * 1000;
    return expiresAtMs === undefined ? cacheMs : Math.min(cacheMs, expiresAtMs - nowMs);
  }
}

/** Returns whether a response has a claim. Some providers send null for a claim that they lack. */
function isPresent(claim: unknown): boolean {
  return claim !== undefined && claim !== null;
}

/** Returns the time of a claim in milliseconds since the epoch. Throws `invalid_token` if it is not a number. */
function toMs(claims: JsonObject, name: 'exp' | 'nbf'): number | undefined {
  const { [name]: seconds } = claims;
  if (!isPresent(seconds)) return undefined;
  if (typeof seconds !== 'number' || !Number.isFinite(seconds))
    throw createUnauthorizedError('invalid_token', `The token has a claim ${name} that is not a valid time.`);
  return seconds * 1000;
}

/** Sends an introspection request (RFC 7662, 2.1). Throws `IssuerError` or `HttpError`. Redirects are errors. */
async function requestIntrospection(
  http: HttpClient,
  { url, clientId, clientSecret }: IntrospectionEntry,
  token: string,
): Promise<JsonObject> {
  const headers = {
    accept: 'application/json',
    'accept-encoding': 'identity',
    authorization: `Basic ${Buffer.from(`${encodeFormText(clientId)}:${encodeFormText(clientSecret)}`).toString('base64')}`,
    'content-type': 'application/x-www-form-urlencoded',
  };
  const body = new URLSearchParams({ token, token_type_hint: 'access_token' }).toString();
  const request = { method: 'POST', url: new URL(url), headers, body, timeouts } as const;
  const reply = await openReply(http, request, AbortSignal.timeout(timeoutMs));
  const claims = tryParseJson(await readText(reply, maxReplyBytes));
  if (reply.status !== 200) throw new IssuerError(`its introspection endpoint responded with status ${reply.status}`);
  if (!isJsonObject(claims) || typeof claims.active !== 'boolean')
    throw new IssuerError('its introspection endpoint did not respond with a JSON object whose field active is a boolean');
  return claims;
}

/** Encodes a part of the credentials of a client (RFC 6749, 2.3.1). */
function encodeFormText(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1);
}

/** Returns whether the provider did not respond, so that the error is not about the token. */
function isConnectionError(error: unknown): boolean {
  return error instanceof ParleyError && error.code === 'overloaded' && !(error.cause instanceof IssuerError);
}

/** Returns the error for the client. Its message contains no address. */
function toUnavailable(error: unknown): ParleyError {
  const reason =
    error instanceof IssuerError || (error instanceof HttpError && error.kind === 'too_large')
      ? error.message
      : 'its introspection endpoint did not respond';
  const message = `Parley cannot check the token with the identity provider: ${reason}. Send the request again later.`;
  return new ParleyError('overloaded', message, { retryAfterSeconds, cause: error });
}
