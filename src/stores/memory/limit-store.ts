import type { AskedClaim, Claim, Counter, Found, LimitStore, MadeClaims } from '#domain/limits/limit-store.ts';
import type { Window } from '#domain/limits/windows.ts';

interface Counted {
  used: number;
}

/** What is counted in one period of a window. */
interface CountedPeriod {
  readonly endsAtMs: number;
  readonly byHolder: Map<string, Counted>;
}

/** Counters of one node, gone with its process. Those of a window are dropped together when its next period begins. */
export class MemoryLimitStore implements LimitStore {
  readonly #periods = new Map<Window, CountedPeriod>();
  /** By kind and holder; without those that hold nothing. */
  readonly #claimed = { tokens: new Map<string, number>(), cost: new Map<string, number>() };

  reserve(counters: readonly Counter[], claims: readonly AskedClaim[]): Found {
    const found = counters.map((counter) => this.#of(counter));
    const used = found.map((counted) => counted.used);
    const reserved = claims.map((claim) => Math.max(0, this.#claimedBy(claim) - claim.exempt));
    const hasRoom = counters.every(({ window, total }, at) => {
      const claim = claims.findIndex(({ kind }) => kind === window.kind);
      return (used[at] ?? 0) + (reserved[claim] ?? 0) < total;
    });
    if (hasRoom) {
      for (const [at, { amount }] of counters.entries()) add(found[at], amount);
      for (const claim of claims) if (claim.amount > 0) this.#claim(claim, this.#claimedBy(claim) + claim.amount);
    }
    return { used, reserved, lease: '' };
  }

  settle(counters: readonly Counter[], { claims }: MadeClaims): void {
    for (const counter of counters) add(this.#of(counter), counter.amount);
    for (const claim of claims) this.#claim(claim, this.#claimedBy(claim) - claim.amount);
  }

  #claimedBy({ kind, holder }: Claim): number {
    return this.#claimed[kind].get(holder) ?? 0;
  }

  #claim({ kind, holder }: Claim, amount: number): void {
    if (amount > 0) this.#claimed[kind].set(holder, atMost(amount));
    else this.#claimed[kind].delete(holder);
  }

  #of({ window, endsAtMs, holder }: Counter): Counted {
    let period = this.#periods.get(window);
    if (period?.endsAtMs !== endsAtMs) {
      period = { endsAtMs, byHolder: new Map() };
      this.#periods.set(window, period);
    }
    let counted = period.byHolder.get(holder);
    if (counted === undefined) {
      counted = { used: 0 };
      period.byHolder.set(holder, counted);
    }
    return counted;
  }
}

function add(counted: Counted | undefined, amount: number): void {
  if (counted !== undefined) counted.used = atMost(counted.used + amount);
}

function atMost(amount: number): number {
  return Math.min(amount, Number.MAX_SAFE_INTEGER);
}
