import type { Counter, LimitStore } from '#domain/limits/limit-store.ts';
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

  count(counters: readonly Counter[]): readonly number[] {
    const found = counters.map((counter) => ({ counter, counted: this.#of(counter) }));
    const before = found.map(({ counted }) => counted.used);
    if (found.every(({ counter, counted }) => counted.used < counter.total))
      for (const { counter, counted } of found) counted.used += counter.amount;
    return before;
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
