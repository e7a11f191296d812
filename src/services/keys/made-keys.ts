import type { RequestOrigin } from '#base/http/client-address.ts';
import type { Clock } from '#base/time/clock.ts';
import { FreshRead, Recurring } from '#base/time/recurring.ts';
import type { SelfService } from '#contract/configuration/access.ts';
import type { Configuration } from '#contract/configuration/configuration.ts';
import type { ParleyError } from '#contract/errors/errors.ts';
import type { Caller, MadeKey } from '#domain/callers/caller.ts';
import { unauthorized } from '#domain/callers/identify.ts';
import { type IsAllowed, requireAllowedAddress, toIsAllowed } from '#domain/callers/key-ring.ts';
import type { KeyStore, StoredKey } from '#domain/callers/key-store.ts';
import { digestOfKey } from '#domain/callers/made-key-form.ts';
import { isSignedIn, offersKeys, selfServiceOf } from '#domain/callers/self-service.ts';
import { StoreFault } from '#domain/store-fault.ts';

/** How soon this node learns what others write; everything is in force within a second. */
const lookMs = 300;
/** How soon what a key began ends that expired, or whose user lost the right to it by a configuration. */
const sweepMs = 1_000;
const noteUsesMs = 5_000;
/** How long a node that hears nothing goes on. */
const longestDeafMs = 60_000;

export interface MadeKeysDeps {
  readonly store: KeyStore;
  /** Whether other nodes write there too. */
  readonly isShared: boolean;
  readonly snapshot: () => { readonly configuration: Configuration };
  readonly clock: Clock;
  /** Called with faults that fail no call. */
  readonly noteFault: (message: string, thrown: unknown) => void;
}

/**
 * The keys that users made, all of them in memory: a look-up asks no store. A key is in force until it is deleted or expires, and as
 * long as the roles of its owner give the right to have keys. While no role does, the store is left alone.
 */
export class MadeKeys {
  readonly #deps: MadeKeysDeps;
  readonly #recurring: Recurring;
  #known = new KnownKeys();
  /** -1: nothing is known yet. */
  #revision = -1;
  #heardAtMs = Number.NEGATIVE_INFINITY;
  readonly #reading = new FreshRead(() => this.#read());
  #uses = new Map<string, number>();
  #onChange: () => void = () => undefined;

  constructor(deps: MadeKeysDeps) {
    this.#deps = deps;
    this.#recurring = new Recurring(deps.noteFault);
    this.#recurring.every(lookMs, 'keys of users cannot be looked up; those known go on for a minute', () => this.#look());
    // On its own, so that a store which does not answer holds up no end.
    this.#recurring.every(sweepMs, 'what goes on with keys of users could not be looked through', () => this.#sweep());
    this.#recurring.every(noteUsesMs, 'the last uses of keys of users could not be kept', () => this.#keepUses());
  }

  /** Registers the one listener: what some callers held may have ended (`hasEnded`). */
  onChange(hear: () => void): void {
    this.#onChange = hear;
  }

  /** Whom a key stands for. Throws `invalid_api_key`, `address_not_allowed`, StoreFault. */
  async find(key: string, from: RequestOrigin): Promise<Caller> {
    if (!offersKeys(this.#deps.snapshot().configuration)) throw notInForce();
    if (this.#isDeaf()) await this.#reading.run().catch(() => undefined);
    if (this.#isDeaf()) throw new StoreFault('nothing was heard of the keys of users for a while');
    const found = this.#known.find(digestOfKey(key));
    if (found === undefined || !this.#isInForce(found.caller.madeKey)) throw notInForce();
    requireAllowedAddress(found.known.isAllowed, from, this.#deps.snapshot().configuration);
    this.#uses.set(found.known.key.id, this.#deps.clock.epochMs());
    return found.caller;
  }

  /** Whether what a caller began is to end, since the key it began with is no longer in force. */
  hasEnded({ madeKey }: Pick<Caller, 'madeKey'>): boolean {
    if (madeKey === undefined) return false;
    if (!offersKeys(this.#deps.snapshot().configuration)) return true;
    return this.#revision !== -1 && !this.#isInForce(madeKey);
  }

  /** What a caller may make of keys; undefined: nothing. */
  rightOf(caller: Caller): SelfService | undefined {
    return isSignedIn(caller) ? selfServiceOf(this.#deps.snapshot().configuration.roles, caller.roles) : undefined;
  }

  /** Called with each token that was verified: the keys of its user go by the newest. Never fails. */
  noteSignIn(caller: Caller): void {
    if (offersKeys(this.#deps.snapshot().configuration)) void this.#follow(caller).catch(() => undefined);
  }

  /** Writes keys, and resolves once this node knows of it, or will look again in a moment: also after a fault, as the store may have taken it. */
  write<Value>(write: () => Promise<Value>): Promise<Value> {
    return this.#reading.write(write);
  }

  async close(): Promise<void> {
    this.#recurring.close();
    await this.#keepUses().catch(() => undefined);
  }

  async #look(): Promise<void> {
    const { snapshot, isShared } = this.#deps;
    const isDue = isShared || this.#revision === -1 || this.#reading.isBehind;
    if (isDue && offersKeys(snapshot().configuration)) await this.#reading.run();
  }

  /** Also where no role gives the right any more: a run that waited may have been begun with a key. */
  async #sweep(): Promise<void> {
    if (this.#revision !== -1 || !offersKeys(this.#deps.snapshot().configuration)) this.#onChange();
  }

  /** After a long time without news the store may have forgotten what was deleted: all of it is read again. */
  async #read(): Promise<void> {
    const { store, clock } = this.#deps;
    const askedAtMs = clock.nowMs();
    const since = this.#isDeaf() ? -1 : this.#revision;
    const { revision, keys, deleted } = await store.changes(since);
    if (revision < since) {
      // Somebody put a back-up in the place of the database.
      this.#revision = -1;
      this.#heardAtMs = Number.NEGATIVE_INFINITY;
      return this.#read();
    }
    if (since === -1) this.#known = new KnownKeys();
    for (const key of keys) this.#known.put(key, clock.epochMs());
    for (const id of deleted) this.#known.delete(id);
    const isNews = revision !== this.#revision;
    this.#revision = revision;
    this.#heardAtMs = askedAtMs;
    if (isNews) this.#onChange();
  }

  #isDeaf(): boolean {
    const { isShared, clock } = this.#deps;
    return this.#revision === -1 || (isShared && clock.nowMs() - this.#heardAtMs > longestDeafMs);
  }

  #isInForce(held: MadeKey | undefined): boolean {
    const key = held === undefined ? undefined : this.#known.byId(held.id)?.key;
    if (held === undefined || key === undefined) return false;
    const { roles, identityProviders } = this.#deps.snapshot().configuration;
    const nowMs = this.#deps.clock.epochMs();
    const isCurrent = held.version === key.version;
    const isFormer = held.version === key.version - 1 && key.former !== null && key.former.untilMs > nowMs;
    if (key.expiresAtMs <= nowMs || !(isCurrent || isFormer)) return false;
    return Object.hasOwn(identityProviders, key.project) && selfServiceOf(roles, key.roles) !== undefined;
  }

  async #follow(caller: Caller): Promise<void> {
    const { subject, project, roles, signedInAtMs } = caller;
    if (!isSignedIn(caller) || signedInAtMs === undefined) return;
    // Another node may have made one a moment ago.
    if (this.#deps.isShared || this.#revision === -1) await this.#reading.run();
    if (!this.#known.goesByAnother(subject, { project, roles, signedInAtMs })) return;
    await this.write(() => this.#deps.store.noteSignIn(subject, { project, roles, signedInAtMs }));
  }

  async #keepUses(): Promise<void> {
    if (this.#uses.size === 0) return;
    const uses = this.#uses;
    this.#uses = new Map();
    await this.#deps.store.noteUses(uses).catch((thrown) => {
      this.#uses = new Map([...uses, ...this.#uses]);
      throw thrown;
    });
  }
}

function notInForce(): ParleyError {
  return unauthorized(
    'invalid_api_key',
    'The key is not known here, was deleted or has expired, or its user may have no keys any more.',
  );
}

/** A key, ready to be looked up. */
interface KnownKey {
  readonly key: StoredKey;
  readonly isAllowed: IsAllowed;
}

interface Found {
  readonly known: KnownKey;
  readonly caller: Caller;
}

/** Keys by their digests, ids and owners: a look-up compares digests, so its time tells nothing of the keys. */
class KnownKeys {
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
