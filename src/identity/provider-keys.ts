import type { LocalJWKSet } from 'jose';
import type { Clock } from '#base/time/clock.ts';
import { ParleyError } from '#contract/errors/errors.ts';

/** Public keys for signature verification. */
export type KeySet = LocalJWKSet;

const refreshAfterMs = 600_000;
const usableMs = 86_400_000;
const refetchMs = 30_000;
const retryMs = 10_000;

export interface ProviderKeysOptions {
  readonly fetchKeys: () => Promise<KeySet>;
  readonly clock: Clock;
  /** Called with the first failure of a series. */
  readonly reportError: (error: unknown) => void;
}

/**
 * Cached public keys of one identity provider. Keys older than 10 minutes are fetched again on use. They stay usable for up to
 * 1 day if the provider does not answer. At most one fetch runs at a time. After a failed fetch, the next one starts after 10
 * seconds at the earliest.
 */
export class ProviderKeys {
  readonly #options: ProviderKeysOptions;
  #cached: { readonly keys: KeySet; readonly atMs: number } | undefined;
  #fetching: Promise<KeySet> | undefined;
  #failure: { readonly error: unknown; readonly atMs: number } | undefined;
  #lastRefetchMs = Number.NEGATIVE_INFINITY;

  constructor(options: ProviderKeysOptions) {
    this.#options = options;
  }

  /** Returns the cached keys, or fetches them. Rejects with `overloaded` if no usable keys are available. */
  async current(): Promise<KeySet> {
    const cached = this.#cached;
    const ageMs = cached === undefined ? Number.POSITIVE_INFINITY : this.#options.clock.nowMs() - cached.atMs;
    if (cached === undefined || ageMs >= usableMs) return this.#fetch();
    if (ageMs >= refreshAfterMs) this.#fetch().catch(() => undefined);
    return cached.keys;
  }

  /**
   * Returns keys newer than `usedKeys`, for a token whose key is not in them. Resolves with undefined if the last such fetch was
   * less than 30 seconds ago, so that forged tokens cause no load on the provider. Rejects with `overloaded` if the provider does
   * not answer.
   */
  async newerThan(usedKeys: KeySet): Promise<KeySet | undefined> {
    if (this.#cached !== undefined && this.#cached.keys !== usedKeys) return this.#cached.keys;
    if (this.#fetching !== undefined) return this.#fetching;
    if (this.#options.clock.nowMs() - this.#lastRefetchMs < refetchMs) return undefined;
    const keys = await this.#fetch();
    this.#lastRefetchMs = this.#options.clock.nowMs();
    return keys;
  }

  #fetch(): Promise<KeySet> {
    const { clock, fetchKeys } = this.#options;
    if (this.#failure !== undefined && clock.nowMs() - this.#failure.atMs < retryMs)
      return Promise.reject(this.#createUnavailableError());
    this.#fetching ??= fetchKeys()
      .then(
        (keys) => this.#onFetched(keys),
        (error: unknown) => this.#onFailed(error),
      )
      .finally(() => {
        this.#fetching = undefined;
      });
    return this.#fetching;
  }

  #onFetched(keys: KeySet): KeySet {
    this.#cached = { keys, atMs: this.#options.clock.nowMs() };
    this.#failure = undefined;
    return keys;
  }

  #onFailed(error: unknown): never {
    if (this.#failure === undefined) this.#options.reportError(error);
    this.#failure = { error, atMs: this.#options.clock.nowMs() };
    throw this.#createUnavailableError();
  }

  #createUnavailableError(): ParleyError {
    const { error, atMs = 0 } = this.#failure ?? {};
    return new ParleyError(
      'overloaded',
      'Parley cannot fetch the keys of the identity provider of the token. Send the request again later.',
      { retryAfterSeconds: Math.max(1, Math.ceil((atMs + retryMs - this.#options.clock.nowMs()) / 1000)), cause: error },
    );
  }
}
