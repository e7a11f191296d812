import type { Clock } from '../time/clock.ts';
import type { BoundedCache } from './bounded-cache.ts';

/** What was made, and how many milliseconds from now it may be used. */
export interface ExpiringValue<Value> {
  readonly value: Value;
  readonly freshMs: number;
}

export interface ExpiringCacheOptions<Value> {
  readonly clock: Clock;
  /** Where they are kept, as `expiringBytes` counts them. */
  readonly store: BoundedCache<Expiring<Value>>;
  /** Milliseconds a failure is given again instead of a new try; 0: not at all. */
  readonly failureFreshMs: number;
}

/** What is being made, or came or failed. */
export interface Expiring<Value> {
  readonly promise: Promise<Value>;
  /** Set once it came. */
  value: Value | undefined;
  /** On the clock's `nowMs`; infinite while it is being made. */
  freshUntilMs: number;
}

/** Of a promise and its end. */
const expiringEntryBytes = 300;

/** How many bytes an entry takes, for a cache of those whose values take as many as `bytesOf` says. */
export function toExpiringBytes<Value>(countBytes: (value: Value) => number): (entry: Expiring<Value>) => number {
  return ({ value }) => expiringEntryBytes + (value === undefined ? 0 : countBytes(value));
}

/** Keeps what is costly to get: one making at a time for a key, everyone who asks meanwhile waits for the same. */
export class ExpiringCache<Value> {
  readonly #options: ExpiringCacheOptions<Value>;

  constructor(options: ExpiringCacheOptions<Value>) {
    this.#options = options;
  }

  get(key: string, make: () => Promise<ExpiringValue<Value>>): Promise<Value> {
    const { clock, store } = this.#options;
    const cached = store.find(key);
    if (cached !== undefined && cached.freshUntilMs > clock.nowMs()) return cached.promise;
    return this.#start(key, make).promise;
  }

  /** Drops the value of the key if it is the one meant: a newer one stays. */
  forget(key: string, value: Value): void {
    const { store } = this.#options;
    if (store.find(key)?.value === value) store.delete(key);
  }

  #start(key: string, make: () => Promise<ExpiringValue<Value>>): Expiring<Value> {
    const { clock, failureFreshMs, store } = this.#options;
    const created = make();
    const entry: Expiring<Value> = {
      promise: created.then(({ value }) => value),
      value: undefined,
      freshUntilMs: Number.POSITIVE_INFINITY,
    };
    created.then(
      ({ value, freshMs }) => {
        entry.value = value;
        entry.freshUntilMs = clock.nowMs() + freshMs;
        // Only now it is known how much it takes.
        if (store.find(key) === entry) store.set(key, entry);
      },
      () => {
        entry.freshUntilMs = clock.nowMs() + failureFreshMs;
      },
    );
    store.set(key, entry);
    return entry;
  }
}
