import type { RequestOrigin } from '#base/http/client-address.ts';
import type { Clock } from '#base/time/clock.ts';
import { FreshRead, Recurring } from '#base/time/recurring.ts';
import type { SelfService } from '#contract/configuration/access.ts';
import type { Configuration } from '#contract/configuration/configuration.ts';
import type { ParleyError } from '#contract/errors/errors.ts';
import type { Caller, UserKey } from '#domain/callers/caller.ts';
import { unauthorized } from '#domain/callers/identify.ts';
import { type IsAllowed, requireAllowedAddress, toIsAllowed } from '#domain/callers/key-ring.ts';
import type { KeyStore, StoredKey } from '#domain/callers/key-store.ts';
import { findSelfService, hasSelfService, isSignedIn } from '#domain/callers/self-service.ts';
import { hashKey } from '#domain/callers/user-key-form.ts';
import { StoreError } from '#domain/store-error.ts';

/** How soon this node learns what others write; everything is in force within a second. */
const refreshMs = 300;
/** How soon what a key began ends that expired, or whose user lost the right to it by a configuration. */
const sweepMs = 1_000;
const recordUsesMs = 5_000;
/** How long a node that hears nothing goes on. */
const maxStaleMs = 60_000;

export interface UserKeysDeps {
  readonly store: KeyStore;
  /** Whether other nodes write there too. */
  readonly isShared: boolean;
  readonly snapshot: () => { readonly configuration: Configuration };
  readonly clock: Clock;
  /** Called with faults that fail no call. */
  readonly reportError: (message: string, error: unknown) => void;
}

/**
 * The keys that users made, all of them in memory: a look-up asks no store. A key is in force until it is deleted or expires, and as
 * long as the roles of its owner give the right to have keys. While no role does, the store is left alone.
 */
export class UserKeys {
  readonly #deps: UserKeysDeps;
  readonly #recurring: Recurring;
  #cache = new KeyCache();
  /** -1: nothing is known yet. */
  #revision = -1;
  #refreshedAtMs = Number.NEGATIVE_INFINITY;
  readonly #freshRead = new FreshRead(() => this.#read());
  #uses = new Map<string, number>();
  #onChange: () => void = () => undefined;

  constructor(deps: UserKeysDeps) {
    this.#deps = deps;
    this.#recurring = new Recurring(deps.reportError);
    this.#recurring.every(refreshMs, 'keys of users cannot be looked up; those known go on for a minute', () => this.#refresh());
    // On its own, so that a store which does not answer holds up no end.
    this.#recurring.every(sweepMs, 'what goes on with keys of users could not be looked through', () => this.#sweep());
    this.#recurring.every(recordUsesMs, 'the last uses of keys of users could not be kept', () => this.#storeUses());
  }

  /** Registers the one listener: what some callers held may have ended (`hasEnded`). */
  onChange(listener: () => void): void {
    this.#onChange = listener;
  }

  /** Whom a key stands for. Throws `invalid_api_key`, `address_not_allowed`, StoreFault. */
  async find(key: string, from: RequestOrigin): Promise<Caller> {
    if (!hasSelfService(this.#deps.snapshot().configuration)) throw toInvalidKeyError();
    if (this.#isStale()) await this.#freshRead.run().catch(() => undefined);
    if (this.#isStale()) throw new StoreError('nothing was heard of the keys of users for a while');
    const match = this.#cache.find(hashKey(key));
    if (match === undefined || !this.#isValid(match.caller.userKey)) throw toInvalidKeyError();
    requireAllowedAddress(match.cached.isAllowed, from, this.#deps.snapshot().configuration);
    this.#uses.set(match.cached.key.id, this.#deps.clock.epochMs());
    return match.caller;
  }

  /** Whether what a caller began is to end, since the key it began with is no longer in force. */
  hasEnded({ userKey }: Pick<Caller, 'userKey'>): boolean {
    if (userKey === undefined) return false;
    if (!hasSelfService(this.#deps.snapshot().configuration)) return true;
    return this.#revision !== -1 && !this.#isValid(userKey);
  }

  /** What a caller may make of keys; undefined: nothing. */
  findSelfService(caller: Caller): SelfService | undefined {
    return isSignedIn(caller) ? findSelfService(this.#deps.snapshot().configuration.roles, caller.roles) : undefined;
  }

  /** Called with each token that was verified: the keys of its user go by the newest. Never fails. */
  onSignIn(caller: Caller): void {
    if (hasSelfService(this.#deps.snapshot().configuration)) void this.#updateFromToken(caller).catch(() => undefined);
  }

  /** Writes keys, and resolves once this node knows of it, or will look again in a moment: also after a fault, as the store may have taken it. */
  write<Value>(write: () => Promise<Value>): Promise<Value> {
    return this.#freshRead.write(write);
  }

  async close(): Promise<void> {
    this.#recurring.close();
    await this.#storeUses().catch(() => undefined);
  }

  async #refresh(): Promise<void> {
    const { snapshot, isShared } = this.#deps;
    const isDue = isShared || this.#revision === -1 || this.#freshRead.isBehind;
    if (isDue && hasSelfService(snapshot().configuration)) await this.#freshRead.run();
  }

  /** Also where no role gives the right any more: a run that waited may have been begun with a key. */
  async #sweep(): Promise<void> {
    if (this.#revision !== -1 || !hasSelfService(this.#deps.snapshot().configuration)) this.#onChange();
  }

  /** After a long time without news the store may have forgotten what was deleted: all of it is read again. */
  async #read(): Promise<void> {
    const { store, clock } = this.#deps;
    const startedAtMs = clock.nowMs();
    const since = this.#isStale() ? -1 : this.#revision;
    const { revision, keys, deleted } = await store.changes(since);
    if (revision < since) {
      // Somebody put a back-up in the place of the database.
      this.#revision = -1;
      this.#refreshedAtMs = Number.NEGATIVE_INFINITY;
      return this.#read();
    }
    if (since === -1) this.#cache = new KeyCache();
    for (const key of keys) this.#cache.put(key, clock.epochMs());
    for (const id of deleted) this.#cache.delete(id);
    const hasChanged = revision !== this.#revision;
    this.#revision = revision;
    this.#refreshedAtMs = startedAtMs;
    if (hasChanged) this.#onChange();
  }

  #isStale(): boolean {
    const { isShared, clock } = this.#deps;
    return this.#revision === -1 || (isShared && clock.nowMs() - this.#refreshedAtMs > maxStaleMs);
  }

  #isValid(userKey: UserKey | undefined): boolean {
    const key = userKey === undefined ? undefined : this.#cache.byId(userKey.id)?.key;
    if (userKey === undefined || key === undefined) return false;
    const { roles, identityProviders } = this.#deps.snapshot().configuration;
    const nowMs = this.#deps.clock.epochMs();
    const isCurrent = userKey.version === key.version;
    const isFormer = userKey.version === key.version - 1 && key.former !== null && key.former.untilMs > nowMs;
    if (key.expiresAtMs <= nowMs || !(isCurrent || isFormer)) return false;
    return Object.hasOwn(identityProviders, key.project) && findSelfService(roles, key.roles) !== undefined;
  }

  async #updateFromToken(caller: Caller): Promise<void> {
    const { subject, project, roles, signedInAtMs } = caller;
    if (!isSignedIn(caller) || signedInAtMs === undefined) return;
    // Another node may have made one a moment ago.
    if (this.#deps.isShared || this.#revision === -1) await this.#freshRead.run();
    if (!this.#cache.isOutdatedBy(subject, { project, roles, signedInAtMs })) return;
    await this.write(() => this.#deps.store.recordSignIn(subject, { project, roles, signedInAtMs }));
  }

  async #storeUses(): Promise<void> {
    if (this.#uses.size === 0) return;
    const uses = this.#uses;
    this.#uses = new Map();
    await this.#deps.store.recordUses(uses).catch((error) => {
      this.#uses = new Map([...uses, ...this.#uses]);
      throw error;
    });
  }
}

function toInvalidKeyError(): ParleyError {
  return unauthorized(
    'invalid_api_key',
    'The key is not known here, was deleted or has expired, or its user may have no keys any more.',
  );
}

/** A key, ready to be looked up. */
interface CachedKey {
  readonly key: StoredKey;
  readonly isAllowed: IsAllowed;
}

interface KeyMatch {
  readonly cached: CachedKey;
  readonly caller: Caller;
}

/** Keys by their digests, ids and owners: a look-up compares digests, so its time tells nothing of the keys. */
class KeyCache {
  readonly #byDigest = new Map<string, KeyMatch>();
  readonly #byId = new Map<string, CachedKey>();
  readonly #ofOwner = new Map<string, Set<string>>();
  /** When the newest token was issued that was seen of each owner here. */
  readonly #newestSignIns = new Map<string, number>();

  find(digest: string): KeyMatch | undefined {
    return this.#byDigest.get(digest);
  }

  byId(id: string): CachedKey | undefined {
    return this.#byId.get(id);
  }

  /** In the place of the one with the same id; those of its owner that have expired go. */
  put(key: StoredKey, nowMs: number): void {
    this.delete(key.id);
    for (const id of this.#ofOwner.get(key.owner) ?? []) if (this.#hasExpired(id, nowMs)) this.delete(id);
    const cached = { key, isAllowed: toIsAllowed(key.allowedIps) };
    this.#byId.set(key.id, cached);
    this.#byDigest.set(key.digest, { cached, caller: toCaller(key, key.version) });
    if (key.former !== null) this.#byDigest.set(key.former.digest, { cached, caller: toCaller(key, key.version - 1) });
    this.#ofOwner.set(key.owner, (this.#ofOwner.get(key.owner) ?? new Set()).add(key.id));
  }

  delete(id: string): void {
    const cached = this.#byId.get(id);
    if (cached === undefined) return;
    const { owner, digest, former } = cached.key;
    this.#byId.delete(id);
    this.#byDigest.delete(digest);
    if (former !== null) this.#byDigest.delete(former.digest);
    const ownerIds = this.#ofOwner.get(owner);
    ownerIds?.delete(id);
    if (ownerIds?.size !== 0) return;
    this.#ofOwner.delete(owner);
    this.#newestSignIns.delete(owner);
  }

  /** Whether some of an owner's keys go by a token that said something else and is no younger: tokens tell whole seconds. */
  isOutdatedBy(owner: string, { project, roles, signedInAtMs }: Pick<StoredKey, 'project' | 'roles' | 'signedInAtMs'>): boolean {
    const ids = [...(this.#ofOwner.get(owner) ?? [])];
    if (ids.length === 0 || signedInAtMs < (this.#newestSignIns.get(owner) ?? signedInAtMs)) return false;
    this.#newestSignIns.set(owner, signedInAtMs);
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
  return { subject: owner, project, roles, chain: null, userKey: { id, version, deployments } };
}
