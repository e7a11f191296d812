import {
  type Counter,
  type CounterState,
  isAdmitted,
  type LeasedClaims,
  type LimitStore,
  type RequestedClaim,
  type ReserveOutcome,
  type StoredCounter,
} from '#domain/limits/limit-store.ts';

interface MemoryCounter extends CounterState {
  used: number;
  /** The part of `used` that came from stored counters of other nodes. */
  usedByPeers: number;
  isChanged: boolean;
}

/** Counters of one period of a window. */
interface CountedPeriod {
  readonly endsAtMs: number;
  readonly byHolder: Map<string, MemoryCounter>;
}

/** Counters of one node in memory. The first use of a window in its next period drops all counters of the previous period. */
export class MemoryLimitStore implements LimitStore {
  /** Current period by the name of its window. */
  readonly #periods = new Map<string, CountedPeriod>();
  readonly #claims = { tokens: new ClaimedAmounts(), cost: new ClaimedAmounts(), calls: new ClaimedAmounts() };
  readonly #onChange: (() => void) | undefined;
  #changedCounters: MemoryCounter[] = [];

  /** `onChange` is called at the first change after the last `consumeChanges`. Without it, changes are not collected. */
  constructor(onChange?: () => void) {
    this.#onChange = onChange;
  }

  reserve(counters: readonly Counter[], claims: readonly RequestedClaim[]): ReserveOutcome {
    const used = counters.map((counter) => this.#getUsed(counter));
    const reserved = claims.map((claim) => Math.max(0, this.#claims[claim.kind].get(claim.holder) - claim.exemptAmount));
    if (isAdmitted(counters, { used, reserved })) {
      for (const counter of counters) this.#add(counter);
      for (const { kind, holder, amount } of claims) if (amount > 0) this.#claims[kind].add(holder, amount);
    }
    return { used, reserved, lease: '' };
  }

  settle(counters: readonly Counter[], { claims }: LeasedClaims): readonly number[] {
    for (const counter of counters) this.#add(counter);
    for (const { kind, holder, amount } of claims) this.#claims[kind].add(holder, -amount);
    return counters.map((counter) => this.#getUsed(counter));
  }

  /** Adds counters that an earlier process or another node stored. */
  restore(stored: readonly StoredCounter[]): void {
    for (const state of stored) {
      if ((this.#periods.get(state.window.name)?.endsAtMs ?? 0) > state.endsAtMs) continue;
      const counted = this.#getCounter(state);
      counted.used = toSafeInteger(counted.used + state.used);
      counted.usedByPeers = state.used - state.ownUsed;
    }
  }

  /** Whether `consumeChanges` would return a counter. */
  get hasChanges(): boolean {
    return this.#changedCounters.length > 0;
  }

  /** Returns this node's part of each counter that changed since the last call. */
  consumeChanges(): readonly CounterState[] {
    const changes = this.#changedCounters;
    this.#changedCounters = [];
    return changes.map((counted) => {
      counted.isChanged = false;
      const { window, holder, endsAtMs, used, usedByPeers } = counted;
      return { window, holder, endsAtMs, used: used - usedByPeers };
    });
  }

  /** Marks counters as changed again, for example because they could not be saved. */
  markChanged(states: readonly CounterState[]): void {
    for (const state of states)
      if (this.#periods.get(state.window.name)?.endsAtMs === state.endsAtMs) this.#recordChange(this.#getCounter(state));
  }

  #getUsed({ window, endsAtMs, holder }: Counter): number {
    const period = this.#periods.get(window.name);
    return period?.endsAtMs === endsAtMs ? (period.byHolder.get(holder)?.used ?? 0) : 0;
  }

  #add(counter: Counter): void {
    const { amount } = counter;
    if (amount === 0) return;
    const counted = this.#getCounter(counter);
    counted.used = toSafeInteger(counted.used + amount);
    if (this.#onChange !== undefined) this.#recordChange(counted);
  }

  #recordChange(counted: MemoryCounter): void {
    if (counted.isChanged) return;
    counted.isChanged = true;
    if (this.#changedCounters.push(counted) === 1) this.#onChange?.();
  }

  #getCounter({ window, endsAtMs, holder }: Omit<CounterState, 'used'>): MemoryCounter {
    let period = this.#periods.get(window.name);
    if (period?.endsAtMs !== endsAtMs) {
      period = { endsAtMs, byHolder: new Map() };
      this.#periods.set(window.name, period);
    }
    let counted = period.byHolder.get(holder);
    if (counted === undefined) {
      counted = { window, holder, endsAtMs, used: 0, usedByPeers: 0, isChanged: false };
      period.byHolder.set(holder, counted);
    }
    return counted;
  }
}

/** Minimum number of holders before those without claims are deleted. */
const minCleanupSize = 1_000;

/** Amounts that calls in progress claim, by holder. */
class ClaimedAmounts {
  /**
   * A holder remains when its last call ends. Each deletion would copy the map, and the copies slow down garbage collection so much
   * that the p99 of calls rises by milliseconds.
   */
  readonly #byHolder = new Map<string, number>();
  #cleanupSize = minCleanupSize;

  get(holder: string): number {
    return this.#byHolder.get(holder) ?? 0;
  }

  add(holder: string, amount: number): void {
    this.#byHolder.set(holder, toSafeInteger(Math.max(0, this.get(holder) + amount)));
    if (this.#byHolder.size >= this.#cleanupSize) this.#deleteUnclaimed();
  }

  #deleteUnclaimed(): void {
    for (const [holder, amount] of this.#byHolder) if (amount === 0) this.#byHolder.delete(holder);
    this.#cleanupSize = Math.max(minCleanupSize, 2 * this.#byHolder.size);
  }
}

function toSafeInteger(amount: number): number {
  return Math.min(amount, Number.MAX_SAFE_INTEGER);
}
