import type { RequestOrigin } from '#base/http/client-address.ts';
import type { Clock } from '#base/time/clock.ts';
import { RecurringTasks } from '#base/time/recurring-tasks.ts';
import type { SelfService } from '#contract/configuration/access.ts';
import type { Configuration } from '#contract/configuration/configuration.ts';
import type { ParleyError } from '#contract/errors/errors.ts';
import type { Caller, UserKey } from '#domain/callers/caller.ts';
import { createUnauthorizedError } from '#domain/callers/identify.ts';
import { hashKey } from '#domain/callers/key-form.ts';
import { type AddressMatcher, createAddressMatcher, requireAllowedAddress } from '#domain/callers/key-ring.ts';
import type { KeyStore, StoredKey } from '#domain/callers/key-store.ts';
import { findSelfService, hasSelfService, isSignedIn } from '#domain/callers/self-service.ts';
import { findProviderName } from '#domain/callers/subjects.ts';
import { StoreError } from '#domain/store-error.ts';
import { DataRefresher, type DataRefresherDeps } from '../node/data-refresher.ts';
import { KeyUses } from './key-uses.ts';

/** Interval of the checks for calls whose key expired, or whose user may no longer have keys after a configuration change. */
const sweepIntervalMs = 1_000;
/** Maximum time that a node keeps serving cached keys without the store. */
const maxStaleMs = 60_000;

export interface UserKeysDeps extends DataRefresherDeps {
  readonly store: KeyStore;
  readonly snapshot: () => { readonly configuration: Configuration };
  readonly clock: Clock;
}

/** Returns whether the owner's provider is configured. If it has no `projectClaim`, its name must be the project of the key. */
function hasConfiguredProvider({ owner, project }: StoredKey, providers: Configuration['identityProviders']): boolean {
  const name = findProviderName(owner, Object.keys(providers));
  return name !== undefined && (project === name || providers[name]?.projectClaim !== undefined);
}

/**
 * The keys of users, all in memory, so that lookups do not query the store. A key is valid until it is deleted, replaced, or
 * expired, and while the roles of its owner allow keys. If no role allows keys, the store is not used.
 */
export class UserKeys {
  readonly #deps: UserKeysDeps;
  readonly #tasks: RecurringTasks;
  #cache = new KeyCache();
  /** Revision of the cache. -1 before the first read. */
  #revision = -1;
  #refreshedAtMs = Number.NEGATIVE_INFINITY;
  readonly #refresher: DataRefresher;
  readonly #uses: KeyUses;
  #onChange: () => void = () => undefined;

  constructor(deps: UserKeysDeps) {
    this.#deps = deps;
    this.#refresher = new DataRefresher(deps, {
      name: 'user-keys',
      outageMessage: 'could not read the keys of users. Cached keys stay valid for a minute',
      readData: () => this.#read(),
      isDue: () => this.#revision === -1,
    });
    this.#tasks = new RecurringTasks(deps.reportError);
    this.#tasks.every(sweepIntervalMs, 'could not check the calls that use keys of users', () => this.#sweep());
    this.#uses = new KeyUses({ ...deps, kind: 'keys of users', write: (uses) => deps.store.recordUses(uses) });
  }

  /** Sets the only listener, which is called when `hasInvalidKey` may have changed for some callers. */
  onChange(listener: () => void): void {
    this.#onChange = listener;
  }

  /** Returns the caller of a key. Throws `invalid_api_key`, `address_not_allowed`, or `StoreError`. */
  async find(key: string, from: RequestOrigin): Promise<Caller> {
    if (!hasSelfService(this.#deps.snapshot().configuration)) throw createInvalidKeyError();
    if (this.#isStale()) await this.#refresher.load().catch(() => undefined);
    if (this.#isStale()) throw new StoreError('the keys of users could not be read for some time');
    const match = this.#cache.find(hashKey(key));
    if (match === undefined || !this.#isValid(match.caller.userKey)) throw createInvalidKeyError();
    requireAllowedAddress(match.cached.isAllowed, from, this.#deps.snapshot().configuration);
    this.#uses.record(match.cached.key.id);
    return match.caller;
  }

  /** Returns whether calls of the caller must end, because their key is no longer valid. */
  hasInvalidKey({ userKey }: Pick<Caller, 'userKey'>): boolean {
    if (userKey === undefined) return false;
    if (!hasSelfService(this.#deps.snapshot().configuration)) return true;
    return this.#revision !== -1 && !this.#isValid(userKey);
  }

  /** Returns the limits of the keys that a caller may create, or undefined if the caller may not create keys. */
  findSelfService(caller: Caller): SelfService | undefined {
    return isSignedIn(caller) ? findSelfService(this.#deps.snapshot().configuration.roles, caller.roles) : undefined;
  }

  /** Called with each verified token. The newest token determines the project and the roles of the user's keys. Never fails. */
  onSignIn(caller: Caller): void {
    if (hasSelfService(this.#deps.snapshot().configuration)) void this.#updateFromToken(caller).catch(() => undefined);
  }

  /**
   * Writes keys. Settles after this node has read the keys or scheduled a read, because the store may have applied a write that
   * failed. Rejects if the write fails.
   */
  write<Value>(write: () => Promise<Value>): Promise<Value> {
    return this.#refresher.write(write);
  }

  async close(): Promise<void> {
    this.#refresher.close();
    this.#tasks.close();
    await this.#uses.close();
  }

  /**
   * Ends calls whose key is no longer valid. This is a separate task, because a read can hang. It also runs if no role allows
   * keys, because a background response that was queued earlier may start with a key.
   */
  async #sweep(): Promise<void> {
    if (this.#revision !== -1 || !hasSelfService(this.#deps.snapshot().configuration)) this.#onChange();
  }

  /** If the cache is stale, reads all keys again, because the store may no longer report older deletions. */
  async #read(): Promise<void> {
    const { store, clock, snapshot } = this.#deps;
    if (!hasSelfService(snapshot().configuration)) {
      this.#revision = -1;
      return;
    }
    const startedAtMs = clock.nowMs();
    const since = this.#isStale() ? -1 : this.#revision;
    const { revision, keys, deleted } = await store.readUpdates(since);
    if (revision < since) {
      // The database was restored from a backup.
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
    const key = userKey === undefined ? undefined : this.#cache.findById(userKey.id)?.key;
    if (userKey === undefined || key === undefined) return false;
    const { roles, identityProviders } = this.#deps.snapshot().configuration;
    const nowMs = this.#deps.clock.epochMs();
    const isCurrent = userKey.version === key.version;
    const isFormer = userKey.version === key.version - 1 && key.former !== null && key.former.untilMs > nowMs;
    if (key.expiresAtMs <= nowMs || !(isCurrent || isFormer)) return false;
    return hasConfiguredProvider(key, identityProviders) && findSelfService(roles, key.roles) !== undefined;
  }

  async #updateFromToken(caller: Caller): Promise<void> {
    const { subject, project, roles, signedInAtMs } = caller;
    if (!isSignedIn(caller) || signedInAtMs === undefined) return;
    // Another node may have just created a key.
    if (this.#deps.isShared || this.#revision === -1) await this.#refresher.load();
    if (!this.#cache.isOutdatedBy(subject, { project, roles, signedInAtMs })) return;
    await this.write(() => this.#deps.store.recordSignIn(subject, { project, roles, signedInAtMs }));
  }
}

function createInvalidKeyError(): ParleyError {
  return createUnauthorizedError(
    'invalid_api_key',
    'The key is unknown, deleted, or expired, or its user is no longer allowed to have keys.',
  );
}

/** A key that is prepared for lookups. */
interface CachedKey {
  readonly key: StoredKey;
  readonly isAllowed: AddressMatcher;
}

interface KeyMatch {
  readonly cached: CachedKey;
  readonly caller: Caller;
}

/** Keys by digest, ID, and owner. A lookup compares digests, so its duration does not reveal information about the keys. */
class KeyCache {
  readonly #byDigest = new Map<string, KeyMatch>();
  readonly #byId = new Map<string, CachedKey>();
  readonly #idsByOwner = new Map<string, Set<string>>();
  /** Issue time of the newest token that this node has seen, by owner. */
  readonly #newestSignIns = new Map<string, number>();

  find(digest: string): KeyMatch | undefined {
    return this.#byDigest.get(digest);
  }

  findById(id: string): CachedKey | undefined {
    return this.#byId.get(id);
  }

  /** Adds or replaces a key, and removes expired keys of its owner. */
  put(key: StoredKey, nowMs: number): void {
    this.delete(key.id);
    for (const id of this.#idsByOwner.get(key.owner) ?? []) if (this.#hasExpired(id, nowMs)) this.delete(id);
    const cached = { key, isAllowed: createAddressMatcher(key.allowedIps) };
    this.#byId.set(key.id, cached);
    this.#byDigest.set(key.digest, { cached, caller: toCaller(key, key.version) });
    if (key.former !== null) this.#byDigest.set(key.former.digest, { cached, caller: toCaller(key, key.version - 1) });
    this.#idsByOwner.set(key.owner, (this.#idsByOwner.get(key.owner) ?? new Set()).add(key.id));
  }

  delete(id: string): void {
    const cached = this.#byId.get(id);
    if (cached === undefined) return;
    const { owner, digest, former } = cached.key;
    this.#byId.delete(id);
    this.#byDigest.delete(digest);
    if (former !== null) this.#byDigest.delete(former.digest);
    const ownerIds = this.#idsByOwner.get(owner);
    ownerIds?.delete(id);
    if (ownerIds?.size !== 0) return;
    this.#idsByOwner.delete(owner);
    this.#newestSignIns.delete(owner);
  }

  /**
   * Returns whether a key of the owner has another project or other roles than this token, and was not updated from a newer token.
   * Tokens with the same issue time can differ, because issue times are whole seconds.
   */
  isOutdatedBy(owner: string, { project, roles, signedInAtMs }: Pick<StoredKey, 'project' | 'roles' | 'signedInAtMs'>): boolean {
    const ids = [...(this.#idsByOwner.get(owner) ?? [])];
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
