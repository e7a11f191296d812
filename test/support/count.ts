import type { Counter, LimitStore } from '#domain/limits/limit-store.ts';

/** Counts without a reservation, unless a counter has reached its total. Returns the previous value of each counter. */
export async function count(store: LimitStore, counters: readonly Counter[]): Promise<readonly number[]> {
  return (await store.reserve(counters, [])).used;
}

/** Counts even if a total is exceeded. */
export async function charge(store: LimitStore, counters: readonly Counter[]): Promise<void> {
  await store.settle(counters, { claims: [], lease: '' });
}
