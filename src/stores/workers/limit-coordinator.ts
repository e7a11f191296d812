import type { Clock } from '#base/time/clock.ts';
import {
  type Counter,
  isAdmitted,
  type LeasedClaims,
  type RequestedClaim,
  type ReserveOutcome,
} from '#domain/limits/limit-store.ts';
import { StoreError } from '#domain/store-error.ts';
import {
  fromSentCounter,
  type ReserveAnswer,
  type ReserveMessage,
  type ReturnedShare,
  type SentHolder,
  type SentUsage,
  type SettleMessage,
  toWindow,
} from './share-messages.ts';

/** Minimum number of calls that a share must cover. Without a share, the worker asks the primary process for each call. */
const minCallsPerShare = 16;
/** Fraction of the free quota that one grant divides by the number of workers. */
const sharedFraction = 1 / 2;
/** Time without new shares for the holders after a recall, in milliseconds. */
const pauseMs = 1_000;
const maxAttempts = 3;
/** Maximum number of holders with a pause. Beyond it, all pauses end early. */
const maxPaused = 10_000;

/** A limit store in the memory of this process. */
interface ImmediateLimitStore {
  reserve(counters: readonly Counter[], claims: readonly RequestedClaim[]): ReserveOutcome;
  settle(counters: readonly Counter[], leasedClaims: LeasedClaims): void;
}

export interface LimitCoordinatorDeps {
  /** Counters and reservations of the node. */
  readonly store: ImmediateLimitStore;
  readonly clock: Clock;
  readonly workerCount: number;
  /**
   * Asks a worker to return its shares. Rejects if the worker ends or does not answer. Calls `onLate` with shares that the worker
   * returns after that.
   */
  readonly recall: (
    worker: number,
    holders: readonly SentHolder[],
    onLate: (returned: readonly ReturnedShare[]) => void,
  ) => Promise<readonly ReturnedShare[]>;
}

/** Shares and reservations of one worker. */
interface WorkerState {
  /** Granted amounts by holder and counter. */
  readonly shares: Map<string, Map<string, number>>;
  /** Reservations that the store has for this worker, by holder. They end with the worker. */
  readonly claimed: Map<string, number>;
}

/**
 * Limits of a node with several workers. Workers get shares of the free quota, so that most calls need no message. No grant lets
 * the sum of the usage, the reservations, and the shares exceed a limit. If the free quota is not enough for a call, the coordinator
 * recalls all shares of its holders first.
 */
export class LimitCoordinator {
  readonly #deps: LimitCoordinatorDeps;
  readonly #workers = new Map<number, WorkerState>();
  /** Recalls in progress by worker and holder. */
  readonly #recalls = new Map<string, Promise<void>>();
  /** Times until which holders get no shares. */
  readonly #pausedUntil = new Map<string, number>();

  constructor(deps: LimitCoordinatorDeps) {
    this.#deps = deps;
  }

  /** Counts a call and reserves its claims if the limits admit it. Throws `StoreError`. */
  async reserve(
    worker: number,
    { counters: sent, claims: sentClaims, returned, isExact }: ReserveMessage,
  ): Promise<ReserveAnswer> {
    this.applyReturned(worker, returned);
    const state = this.#getWorker(worker);
    const counters = sent.map(fromSentCounter);
    const claims = sentClaims.map(([kind, holder, amount, exemptAmount]) => ({ kind, holder, amount, exemptAmount }));
    if (isExact || this.#hasUnsharedClaims(counters)) await this.#recallAll(counters);
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      // A worker can end during a recall. Its claims would never be settled.
      if (this.#workers.get(worker) !== state) throw new StoreError('the worker has ended');
      // A period can end while the message is in transit. Its counters are no longer in use, so they admit the call.
      const current = counters.filter((counter) => !this.#hasEnded(counter));
      const reduced = current.map((counter) => ({ ...counter, total: counter.total - this.#getShared(counter) }));
      const { used: currentUsed, reserved } = this.#deps.store.reserve(reduced, claims);
      const used = counters.map((counter) => currentUsed[current.indexOf(counter)] ?? 0);
      if (isAdmitted(reduced, { used: currentUsed, reserved })) {
        this.#addClaims(worker, claims);
        if (current.length < counters.length) return { used, reserved: claims.map(() => 0) };
        const shares = isExact ? undefined : this.#grant(worker, counters, claims);
        return { used, reserved, ...(shares && { shares }) };
      }
      if (!isAdmitted(current, { used: currentUsed, reserved })) return { used, reserved };
      await this.#recallAll(current);
    }
    throw new StoreError('shares of a limit were not returned');
  }

  settle(worker: number, { counters: sent, claims }: SettleMessage): void {
    for (const [kind, holder, amount] of claims) this.#addClaimed(worker, toHolderKey(kind, holder), -amount);
    const released = claims.map(([kind, holder, amount]) => ({ kind, holder, amount }));
    const counters = sent.map(fromSentCounter).filter((counter) => !this.#hasEnded(counter));
    this.#deps.store.settle(counters, { claims: released, lease: '' });
  }

  /** Counts the usage of shares that a worker reports. Returns the total usage of their counters. */
  report(worker: number, usages: readonly SentUsage[]): readonly (readonly number[])[] {
    return usages.map((usage) => {
      const counters = this.#applyUsage(worker, usage);
      return counters.map((counter) => (this.#hasEnded(counter) ? 0 : this.#readUsed(counter)));
    });
  }

  applyReturned(worker: number, returned: readonly ReturnedShare[]): void {
    for (const share of returned) {
      this.#applyUsage(worker, share);
      const [kind, holder] = share.holder;
      const key = toHolderKey(kind, holder);
      this.#getWorker(worker).shares.delete(key);
      if (kind === 'requests' || share.claimed === 0) continue;
      const claims = [{ kind, holder, amount: share.claimed, exemptAmount: 0 }];
      this.#deps.store.reserve([], claims);
      this.#addClaims(worker, claims);
    }
  }

  /** Ends the shares and reservations of a worker that has ended. */
  remove(worker: number): void {
    const state = this.#workers.get(worker);
    this.#workers.delete(worker);
    const claims = [...(state?.claimed ?? [])].flatMap(([key, amount]) => {
      const [kind, holder] = fromHolderKey(key);
      return kind === 'requests' ? [] : [{ kind, holder, amount }];
    });
    this.#deps.store.settle([], { claims, lease: '' });
  }

  #hasEnded({ endsAtMs }: Counter): boolean {
    return endsAtMs <= this.#deps.clock.epochMs();
  }

  #readUsed(counter: Counter): number {
    const { used } = this.#deps.store.reserve([{ ...counter, total: Number.MAX_SAFE_INTEGER, amount: 0 }], []);
    return used[0] ?? 0;
  }

  /** Returns shares of all counters, or undefined if one of them would be too small. */
  #grant(worker: number, counters: readonly Counter[], claims: readonly RequestedClaim[]): ReserveAnswer['shares'] {
    const { store, workerCount } = this.#deps;
    const { shares } = this.#getWorker(worker);
    const keys = counters.map(({ window, holder }) => toHolderKey(window.kind, holder));
    const isAvailable = keys.every((key) => !shares.has(key) && !this.#isPaused(key));
    if (!isAvailable) return undefined;
    const zeroClaims = claims.map((claim) => ({ ...claim, amount: 0, exemptAmount: 0 }));
    const { used, reserved } = store.reserve(
      counters.map((counter) => ({ ...counter, amount: 0 })),
      zeroClaims,
    );
    const granted = counters.map((counter, index) => {
      const { claimIndex, amount } = counter;
      const perCall = claimIndex === -1 ? amount : (claims[claimIndex]?.amount ?? 0);
      const free = counter.total - (used[index] ?? 0) - (reserved[claimIndex] ?? 0) - this.#getShared(counter);
      const share = Math.floor((free * sharedFraction) / workerCount);
      return share >= minCallsPerShare * Math.max(1, perCall) ? share : 0;
    });
    if (granted.includes(0)) return undefined;
    for (const [index, counter] of counters.entries()) {
      const key = keys[index] ?? '';
      const holderShares = shares.get(key) ?? new Map<string, number>();
      shares.set(key, holderShares.set(toCounterKey(counter), granted[index] ?? 0));
    }
    return granted.map((share, index) => [share, used[index] ?? 0]);
  }

  #applyUsage(worker: number, { holder: [kind, holder], counters: sent }: SentUsage): readonly Counter[] {
    const shares = this.#getWorker(worker).shares.get(toHolderKey(kind, holder));
    const counters = sent.map(([name, endsAtMs, amount]): Counter => {
      const counter = { window: toWindow(name), holder, endsAtMs, total: 0, amount, claimIndex: -1 };
      const granted = shares?.get(toCounterKey(counter));
      if (granted !== undefined) shares?.set(toCounterKey(counter), Math.max(0, granted - amount));
      return counter;
    });
    const current = counters.filter((counter) => !this.#hasEnded(counter));
    this.#deps.store.settle(current, { claims: [], lease: '' });
    return counters;
  }

  /** Returns the amount of a counter that workers may use without a message. */
  #getShared(counter: Counter): number {
    const [holder, key] = [toHolderKey(counter.window.kind, counter.holder), toCounterKey(counter)];
    let sum = 0;
    for (const { shares } of this.#workers.values()) sum += shares.get(holder)?.get(key) ?? 0;
    return sum;
  }

  /**
   * Returns whether a worker has shares of a holder, but no share of one of these counters. The counter then lacks the
   * reservations of the worker. This happens in a new period.
   */
  #hasUnsharedClaims(counters: readonly Counter[]): boolean {
    for (const counter of counters) {
      const [holder, key] = [toHolderKey(counter.window.kind, counter.holder), toCounterKey(counter)];
      for (const { shares } of this.#workers.values()) if (shares.get(holder)?.has(key) === false) return true;
    }
    return false;
  }

  /** Recalls all shares of the holders. Rejects with `StoreError` if a worker does not return them. */
  async #recallAll(counters: readonly Counter[]): Promise<void> {
    const holders = new Map(
      counters.map(({ window, holder }) => [toHolderKey(window.kind, holder), [window.kind, holder] as const]),
    );
    const pausedUntilMs = this.#deps.clock.nowMs() + pauseMs;
    if (this.#pausedUntil.size > maxPaused) this.#pausedUntil.clear();
    for (const key of holders.keys()) this.#pausedUntil.set(key, pausedUntilMs);
    const recalls = [...this.#workers].flatMap(([worker, { shares }]) =>
      [...holders].filter(([key]) => shares.has(key)).map(([key, holder]) => this.#recall(worker, key, holder)),
    );
    await Promise.all(recalls);
  }

  #recall(worker: number, key: string, holder: SentHolder): Promise<void> {
    const name = `${worker} ${key}`;
    const existing = this.#recalls.get(name);
    if (existing !== undefined) return existing;
    const recall = this.#deps
      .recall(worker, [holder], (returned) => this.applyReturned(worker, returned))
      .then((returned) => {
        if (!this.#workers.has(worker)) return;
        this.applyReturned(worker, returned);
        this.#getWorker(worker).shares.delete(key);
      })
      .catch((cause: unknown) => {
        // The shares of a worker that has ended are already removed.
        if (this.#workers.get(worker)?.shares.has(key)) throw new StoreError('a worker did not return its share', { cause });
      })
      .finally(() => this.#recalls.delete(name));
    this.#recalls.set(name, recall);
    return recall;
  }

  #isPaused(key: string): boolean {
    const untilMs = this.#pausedUntil.get(key);
    if (untilMs === undefined) return false;
    if (this.#deps.clock.nowMs() < untilMs) return true;
    this.#pausedUntil.delete(key);
    return false;
  }

  #addClaims(worker: number, claims: readonly RequestedClaim[]): void {
    for (const { kind, holder, amount } of claims) this.#addClaimed(worker, toHolderKey(kind, holder), amount);
  }

  #addClaimed(worker: number, key: string, amount: number): void {
    const { claimed } = this.#getWorker(worker);
    const sum = (claimed.get(key) ?? 0) + amount;
    if (sum > 0) claimed.set(key, sum);
    else claimed.delete(key);
  }

  #getWorker(worker: number): WorkerState {
    const state = this.#workers.get(worker) ?? { shares: new Map(), claimed: new Map() };
    this.#workers.set(worker, state);
    return state;
  }
}

function toHolderKey(kind: string, holder: string): string {
  return `${kind} ${holder}`;
}

function fromHolderKey(key: string): SentHolder {
  const [kind = ''] = key.split(' ', 1);
  return [kind as SentHolder[0], key.slice(kind.length + 1)];
}

function toCounterKey({ window, endsAtMs }: Pick<Counter, 'window' | 'endsAtMs'>): string {
  return `${window.name} ${endsAtMs}`;
}
