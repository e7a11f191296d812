/** What an entry takes beside its key and its value: places in a map, headers of objects. */
const entryBytes = 120;

export interface BoundedCacheOptions<Value> {
  /** Of all entries together; what alone is more is not kept. */
  readonly maxBytes: number;
  /** About how many bytes a value takes. */
  readonly countBytes: (value: Value) => number;
}

interface Entry<Value> {
  readonly value: Value;
  readonly bytes: number;
  /** Since room was last made for others at its place. */
  wasUsed: boolean;
}

/** Keeps values up to so many bytes. Those go first that are oldest and were not used since others went: to find one costs no more than a look. */
export class BoundedCache<Value> {
  readonly #options: BoundedCacheOptions<Value>;
  /** The oldest stand first. */
  readonly #entries = new Map<string, Entry<Value>>();
  #bytes = 0;

  constructor(options: BoundedCacheOptions<Value>) {
    this.#options = options;
  }

  /** About how much is kept, keys included. */
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

  /** In the place of what was kept for the key. */
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

  /** Lets go until no more bytes are left. */
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

/** How much a cache keeps, in bytes. */
interface CacheSize {
  readonly name: string;
  readonly bytes: number;
}

/** The caches of a node, so that the size of each one can be told. */
export class Caches {
  readonly #byName = new Map<string, { readonly bytes: number }>();

  /** An empty cache. It takes the place of the one that had this name before, as with the parts of a new configuration. */
  open<Value>(name: string, options: BoundedCacheOptions<Value>): BoundedCache<Value> {
    const cache = new BoundedCache(options);
    this.#byName.set(name, cache);
    return cache;
  }

  sizes(): readonly CacheSize[] {
    return [...this.#byName].map(([name, { bytes }]) => ({ name, bytes }));
  }
}
