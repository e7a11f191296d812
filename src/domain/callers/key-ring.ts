import { hash } from 'node:crypto';
import type { Caller } from './caller.ts';

/** Configured keys, held as digests: a look-up compares digests, so its time tells nothing of the keys. */
export class KeyRing {
  readonly #callers = new Map<string, Caller>();

  add(key: string, { project, roles }: Pick<Caller, 'project' | 'roles'>): void {
    this.#callers.set(digest(key), { subject: `key:${project}`, project, roles, chain: null });
  }

  /** Whom a key stands for. */
  find(key: string): Caller | undefined {
    return this.#callers.get(digest(key));
  }
}

function digest(key: string): string {
  return hash('sha256', key, 'base64url');
}
