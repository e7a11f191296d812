import { hash } from 'node:crypto';
import type { Caller } from './caller.ts';

/** Whom a key stands for. */
type Holder = Pick<Caller, 'project' | 'roles'>;

/** Configured keys, held as digests: a look-up compares digests, so its time tells nothing of the keys. */
export class KeyRing {
  readonly #callers = new Map<string, Caller>();

  add(key: string, holder: Holder): void {
    this.addDigest(digest(key), holder);
  }

  /** A key of which only the SHA-256 digest is known, in hexadecimal. */
  addDigest(sha256: string, { project, roles }: Holder): void {
    this.#callers.set(sha256.toLowerCase(), { subject: `key:${project}`, project, roles, chain: null });
  }

  /** Whom a key stands for. */
  find(key: string): Caller | undefined {
    return this.#callers.get(digest(key));
  }
}

function digest(key: string): string {
  return hash('sha256', key, 'hex');
}
