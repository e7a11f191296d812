import type { Counter, LimitStore } from '#domain/limits/limit-store.ts';

/** Counts, unless one has reached its total; gives what each had before. Nothing is reserved. */
export async function count(store: LimitStore, counters: readonly Counter[]): Promise<readonly number[]> {
  return (await store.reserve(counters, [])).used;
}

/** Counts, whatever the total. */
export async function charge(store: LimitStore, counters: readonly Counter[]): Promise<void> {
  await store.settle(counters, { claims: [], lease: '' });
}
