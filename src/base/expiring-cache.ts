import type { Clock } from './clock.ts';

/** What was made, and how many milliseconds from now it may be used. */
export interface ExpiringValue<Value> {
  readonly value: Value;
  readonly freshMs: number;
}

export interface ExpiringCacheOptions {
  readonly clock: Clock;
  readonly maxEntries: number;
  /** Milliseconds a failure is given again instead of a new try; 0: not at all. */
  readonly failureFreshMs: number;
}

interface Entry<Value> {
  readonly made: Promise<Value>;
  /** Set once it came. */
  value: Value | undefined;
  /** On the clock's `nowMs`; infinite while it is being made. */
  freshUntilMs: number;
}

/** Keeps what is costly to get: one making at a time for a key, everyone who asks meanwhile waits for the same. */
export class ExpiringCache<Value> {
  readonly #options: ExpiringCacheOptions;
  readonly #entries = new Map<string, Entry<Value>>();

  constructor(options: ExpiringCacheOptions) {
    this.#options = options;
  }

  get(key: string, make: () => Promise<ExpiringValue<Value>>): Promise<Value> {
    const known = this.#entries.get(key);
    if (known !== undefined && known.freshUntilMs > this.#options.clock.nowMs()) return known.made;
    return this.#start(key, make).made;
  }

  /** Drops the value of the key if it is the one meant: a newer one stays. */
  forget(key: string, value: Value): void {
    if (this.#entries.get(key)?.value === value) this.#entries.delete(key);
  }

  #start(key: string, make: () => Promise<ExpiringValue<Value>>): Entry<Value> {
    const { clock, failureFreshMs, maxEntries } = this.#options;
    const making = make();
    const entry: Entry<Value> = {
      made: making.then(({ value }) => value),
      value: undefined,
      freshUntilMs: Number.POSITIVE_INFINITY,
    };
    making.then(
      ({ value, freshMs }) => {
        entry.value = value;
        entry.freshUntilMs = clock.nowMs() + freshMs;
      },
      () => {
        entry.freshUntilMs = clock.nowMs() + failureFreshMs;
      },
    );
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > maxEntries && oldest !== undefined) this.#entries.delete(oldest);
    return entry;
  }
}
