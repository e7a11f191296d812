import { type IsAllowed, toIsAllowed } from './allowed-address.ts';
import type { Caller } from './caller.ts';
import type { StoredKey } from './key-store.ts';

/** A key, ready to be looked up. */
export interface KnownKey {
  readonly key: StoredKey;
  readonly isAllowed: IsAllowed;
}

interface Found {
  readonly known: KnownKey;
  readonly caller: Caller;
}

/** Keys by their digests, ids and owners: a look-up compares digests, so its time tells nothing of the keys. */
export class KnownKeys {
  readonly #byDigest = new Map<string, Found>();
  readonly #byId = new Map<string, KnownKey>();
  readonly #ofOwner = new Map<string, Set<string>>();
  /** When the newest token was issued that was seen of each owner here. */
  readonly #newestOf = new Map<string, number>();

  find(digest: string): Found | undefined {
    return this.#byDigest.get(digest);
  }

  byId(id: string): KnownKey | undefined {
    return this.#byId.get(id);
  }

  /** In the place of the one with the same id; those of its owner that have expired go. */
  put(key: StoredKey, nowMs: number): void {
    this.delete(key.id);
    for (const id of this.#ofOwner.get(key.owner) ?? []) if (this.#hasExpired(id, nowMs)) this.delete(id);
    const known = { key, isAllowed: toIsAllowed(key.allowedIps) };
    this.#byId.set(key.id, known);
    this.#byDigest.set(key.digest, { known, caller: toCaller(key, key.version) });
    if (key.former !== null) this.#byDigest.set(key.former.digest, { known, caller: toCaller(key, key.version - 1) });
    this.#ofOwner.set(key.owner, (this.#ofOwner.get(key.owner) ?? new Set()).add(key.id));
  }

  delete(id: string): void {
    const known = this.#byId.get(id);
    if (known === undefined) return;
    const { owner, digest, former } = known.key;
    this.#byId.delete(id);
    this.#byDigest.delete(digest);
    if (former !== null) this.#byDigest.delete(former.digest);
    const left = this.#ofOwner.get(owner);
    left?.delete(id);
    if (left?.size !== 0) return;
    this.#ofOwner.delete(owner);
    this.#newestOf.delete(owner);
  }

  /** Whether some of an owner's keys go by a token that said something else and is no younger: tokens tell whole seconds. */
  goesByAnother(owner: string, { project, roles, signedInAtMs }: Pick<StoredKey, 'project' | 'roles' | 'signedInAtMs'>): boolean {
    const ids = [...(this.#ofOwner.get(owner) ?? [])];
    if (ids.length === 0 || signedInAtMs < (this.#newestOf.get(owner) ?? signedInAtMs)) return false;
    this.#newestOf.set(owner, signedInAtMs);
    return ids.some((id) => {
      const key = this.#byId.get(id)?.key;
      if (key === undefined || key.signedInAtMs > signedInAtMs) return false;
      return key.project !== project || key.roles.join('\n') !== roles.join('\n');
    });
  }

  #hasExpired(id: string, nowMs: number): boolean {
    const key = this.#byId.get(id)?.key;
    return key !== undefined && key.expiresAtMs <= nowMs;
  }
}

function toCaller({ id, owner, project, roles, deployments }: StoredKey, version: number): Caller {
  return { subject: owner, project, roles, chain: null, madeKey: { id, version, deployments } };
}
