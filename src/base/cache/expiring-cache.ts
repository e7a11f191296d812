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
  readonly kept: BoundedCache<Expiring<Value>>;
  /** Milliseconds a failure is given again instead of a new try; 0: not at all. */
  readonly failureFreshMs: number;
}

/** What is being made, or came or failed. */
export interface Expiring<Value> {
  readonly made: Promise<Value>;
  /** Set once it came. */
  value: Value | undefined;
  /** On the clock's `nowMs`; infinite while it is being made. */
  freshUntilMs: number;
}

/** Of a promise and its end. */
const expiringEntryBytes = 300;

/** How many bytes an entry takes, for a cache of those whose values take as many as `bytesOf` says. */
export function expiringBytes<Value>(bytesOf: (value: Value) => number): (entry: Expiring<Value>) => number {
  return ({ value }) => expiringEntryBytes + (value === undefined ? 0 : bytesOf(value));
}

/** Keeps what is costly to get: one making at a time for a key, everyone who asks meanwhile waits for the same. */
export class ExpiringCache<Value> {
  readonly #options: ExpiringCacheOptions<Value>;

  constructor(options: ExpiringCacheOptions<Value>) {
    this.#options = options;
  }

  get(key: string, make: () => Promise<ExpiringValue<Value>>): Promise<Value> {
    const { clock, kept } = this.#options;
    const known = kept.find(key);
    if (known !== undefined && known.freshUntilMs > clock.nowMs()) return known.made;
    return this.#start(key, make).made;
  }

  /** Drops the value of the key if it is the one meant: a newer one stays. */
  forget(key: string, value: Value): void {
    const { kept } = this.#options;
    if (kept.find(key)?.value === value) kept.delete(key);
  }

  #start(key: string, make: () => Promise<ExpiringValue<Value>>): Expiring<Value> {
    const { clock, failureFreshMs, kept } = this.#options;
    const making = make();
    const entry: Expiring<Value> = {
      made: making.then(({ value }) => value),
      value: undefined,
      freshUntilMs: Number.POSITIVE_INFINITY,
    };
    making.then(
      ({ value, freshMs }) => {
        entry.value = value;
        entry.freshUntilMs = clock.nowMs() + freshMs;
        // Only now it is known how much it takes.
        if (kept.find(key) === entry) kept.set(key, entry);
      },
      () => {
        entry.freshUntilMs = clock.nowMs() + failureFreshMs;
      },
    );
    kept.set(key, entry);
    return entry;
  }
}
