import type { Caller } from '#domain/callers/caller.ts';
import { type PerRequestKeys, toKeyDigest } from '#domain/callers/per-request-keys.ts';

/**
 * Per-request keys of one node. They are lost when its process ends. Keys are stored as digests, so that lookup times reveal
 * nothing about them. `newKey` must return at least 128 random bits.
 */
export class MemoryPerRequestKeys implements PerRequestKeys {
  /** Callers by digest of their keys. */
  readonly #callers = new Map<string, Caller>();
  readonly #newKey: () => string;

  constructor(newKey: () => string) {
    this.#newKey = newKey;
  }

  async issue(caller: Caller): Promise<string> {
    const key = this.#newKey();
    this.#callers.set(toKeyDigest(key), caller);
    return key;
  }

  async revoke(key: string): Promise<void> {
    this.#callers.delete(toKeyDigest(key));
  }

  async find(key: string): Promise<Caller | undefined> {
    return this.#callers.get(toKeyDigest(key));
  }
}
