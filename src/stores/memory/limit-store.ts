import {
  type Claim,
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
  /** Reserved amounts by kind and holder. Holders without reservations are omitted. */
  readonly #claims = { tokens: new Map<string, number>(), cost: new Map<string, number>(), calls: new Map<string, number>() };
  readonly #onChange: (() => void) | undefined;
  #changedCounters: MemoryCounter[] = [];

  /** `onChange` is called at the first change after the last `consumeChanges`. Without it, changes are not collected. */
  constructor(onChange?: () => void) {
    this.#onChange = onChange;
  }

  reserve(counters: readonly Counter[], claims: readonly RequestedClaim[]): ReserveOutcome {
    const used = counters.map((counter) => this.#getUsed(counter));
    const reserved = claims.map((claim) => Math.max(0, this.#getClaimed(claim) - claim.exemptAmount));
    if (isAdmitted(counters, { used, reserved })) {
      for (const counter of counters) this.#add(counter);
      for (const claim of claims) if (claim.amount > 0) this.#setClaimed(claim, this.#getClaimed(claim) + claim.amount);
    }
    return { used, reserved, lease: '' };
  }

  settle(counters: readonly Counter[], { claims }: LeasedClaims): readonly number[] {
    for (const counter of counters) this.#add(counter);
    for (const claim of claims) this.#setClaimed(claim, this.#getClaimed(claim) - claim.amount);
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

  #getClaimed({ kind, holder }: Claim): number {
    return this.#claims[kind].get(holder) ?? 0;
  }

  #setClaimed({ kind, holder }: Claim, amount: number): void {
    if (amount > 0) this.#claims[kind].set(holder, toSafeInteger(amount));
    else this.#claims[kind].delete(holder);
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

function toSafeInteger(amount: number): number {
  return Math.min(amount, Number.MAX_SAFE_INTEGER);
}
