import { BoundedCache, type BoundedCacheOptions } from './bounded-cache.ts';

/** How much a cache keeps, in bytes. */
export interface CacheSize {
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
