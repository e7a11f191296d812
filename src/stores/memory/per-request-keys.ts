import type { Caller } from '#domain/caller.ts';
import type { PerRequestKeys } from '#domain/per-request-keys.ts';

/** Per-request keys of one node, gone with its process. `newKey` gives at least 128 random bits. */
export class MemoryPerRequestKeys implements PerRequestKeys {
  readonly #callers = new Map<string, Caller>();
  readonly #newKey: () => string;

  constructor(newKey: () => string) {
    this.#newKey = newKey;
  }

  async issue(caller: Caller): Promise<string> {
    const key = this.#newKey();
    this.#callers.set(key, caller);
    return key;
  }

  async revoke(key: string): Promise<void> {
    this.#callers.delete(key);
  }

  async find(key: string): Promise<Caller | undefined> {
    return this.#callers.get(key);
  }
}
