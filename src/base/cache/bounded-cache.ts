/** Estimated overhead of an entry in addition to its key and value: map slots and object headers. */
const entryBytes = 120;

export interface BoundedCacheOptions<Value> {
  /** Maximum size of all entries together. A single entry that exceeds it is not stored. */
  readonly maxBytes: number;
  /** Returns the approximate size of a value in bytes. */
  readonly countBytes: (value: Value) => number;
}

interface Entry<Value> {
  readonly value: Value;
  readonly bytes: number;
  /** Whether the entry was read since the last eviction pass that visited it. */
  wasUsed: boolean;
}

/**
 * Stores values up to a maximum number of bytes. Evicts entries with the CLOCK algorithm (second chance): the oldest entry that was
 * not read since the last pass is evicted first. An eviction takes amortized constant time.
 */
export class BoundedCache<Value> {
  readonly #options: BoundedCacheOptions<Value>;
  /** Entries in insertion order, oldest first. */
  readonly #entries = new Map<string, Entry<Value>>();
  #bytes = 0;

  constructor(options: BoundedCacheOptions<Value>) {
    this.#options = options;
  }

  /** Approximate size of all entries in bytes, including their keys. */
  get bytes(): number {
    return this.#bytes;
  }

  get maxBytes(): number {
    return this.#options.maxBytes;
  }

  find(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    entry.wasUsed = true;
    return entry.value;
  }

  /** Stores a value and replaces the existing value of the key. */
  set(key: string, value: Value): void {
    const { countBytes, maxBytes } = this.#options;
    this.delete(key);
    const bytes = entryBytes + key.length + countBytes(value);
    if (bytes > maxBytes) return;
    if (this.#bytes + bytes > maxBytes) this.#evict(maxBytes - bytes);
    this.#entries.set(key, { value, bytes, wasUsed: false });
    this.#bytes += bytes;
  }

  delete(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#bytes -= entry.bytes;
  }

  /** Evicts entries until at most `maxBytes` remain. */
  #evict(maxBytes: number): void {
    for (const [oldest, entry] of this.#entries) {
      this.#entries.delete(oldest);
      if (entry.wasUsed) {
        entry.wasUsed = false;
        this.#entries.set(oldest, entry);
        continue;
      }
      this.#bytes -= entry.bytes;
      if (this.#bytes <= maxBytes) return;
    }
  }
}

/** Size of a cache in bytes. */
interface CacheSize {
  readonly name: string;
  readonly bytes: number;
}

/** The named caches of a node, so that the size of each can be reported. */
export class Caches {
  readonly #byName = new Map<string, { readonly bytes: number }>();

  /** Returns an empty cache and replaces the cache that had this name, for example when a new configuration is applied. */
  create<Value>(name: string, options: BoundedCacheOptions<Value>): BoundedCache<Value> {
    const cache = new BoundedCache(options);
    this.#byName.set(name, cache);
    return cache;
  }

  sizes(): readonly CacheSize[] {
    return [...this.#byName].map(([name, { bytes }]) => ({ name, bytes }));
  }
}
