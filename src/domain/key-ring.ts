import { hash } from 'node:crypto';

/** Whom a configured key stands for. */
export interface KeyHolder {
  readonly project: string;
  readonly roles: readonly string[];
}

/** Configured keys, held as digests: a look-up compares digests, so its time tells nothing of the keys. */
export class KeyRing {
  readonly #holders = new Map<string, KeyHolder>();

  add(key: string, holder: KeyHolder): void {
    this.#holders.set(digest(key), holder);
  }

  find(key: string): KeyHolder | undefined {
    return this.#holders.get(digest(key));
  }
}

function digest(key: string): string {
  return hash('sha256', key, 'base64url');
}
