import type { Clock } from '../time/clock.ts';
import type { BoundedCache } from './bounded-cache.ts';

/** A created value and its lifetime in milliseconds. */
export interface ExpiringValue<Value> {
  readonly value: Value;
  readonly ttlMs: number;
}

export interface ExpiringCacheOptions<Value> {
  readonly clock: Clock;
  /** Cache of the entries. Its `countBytes` must come from `createEntryCounter`. */
  readonly store: BoundedCache<ExpiringEntry<Value>>;
  /** Lifetime of a cached failure in milliseconds. With 0, failures are not cached. */
  readonly failureTtlMs: number;
}

/** A cached value that is being created, is ready, or has failed. */
export interface ExpiringEntry<Value> {
  readonly promise: Promise<Value>;
  /** Set when the value is ready. */
  value: Value | undefined;
  /** Expiry on the scale of the clock's `nowMs`. Infinite while the value is being created. */
  expiresAtMs: number;
}

/** Estimated size of an entry without its value, in bytes. */
const expiringEntryBytes = 300;

/** Returns a function that counts the bytes of an entry, for a cache whose values have the size that `countBytes` returns. */
export function createEntryCounter<Value>(countBytes: (value: Value) => number): (entry: ExpiringEntry<Value>) => number {
  return ({ value }) => expiringEntryBytes + (value === undefined ? 0 : countBytes(value));
}

/** Caches values that are expensive to create. Creates at most one value per key at a time. Concurrent reads share it. */
export class ExpiringCache<Value> {
  readonly #options: ExpiringCacheOptions<Value>;

  constructor(options: ExpiringCacheOptions<Value>) {
    this.#options = options;
  }

  get(key: string, create: () => Promise<ExpiringValue<Value>>): Promise<Value> {
    const { clock, store } = this.#options;
    const cached = store.find(key);
    if (cached !== undefined && cached.expiresAtMs > clock.nowMs()) return cached.promise;
    return this.#start(key, create).promise;
  }

  /** Deletes the entry of the key if it still holds this value. A newer value stays. */
  delete(key: string, value: Value): void {
    const { store } = this.#options;
    if (store.find(key)?.value === value) store.delete(key);
  }

  #start(key: string, create: () => Promise<ExpiringValue<Value>>): ExpiringEntry<Value> {
    const { clock, failureTtlMs, store } = this.#options;
    const created = create();
    const entry: ExpiringEntry<Value> = {
      promise: created.then(({ value }) => value),
      value: undefined,
      expiresAtMs: Number.POSITIVE_INFINITY,
    };
    created.then(
      ({ value, ttlMs }) => {
        entry.value = value;
        entry.expiresAtMs = clock.nowMs() + ttlMs;
        // Stores the entry again, because its size is known only now.
        if (store.find(key) === entry) store.set(key, entry);
      },
      () => {
        entry.expiresAtMs = clock.nowMs() + failureTtlMs;
      },
    );
    store.set(key, entry);
    return entry;
  }
}
