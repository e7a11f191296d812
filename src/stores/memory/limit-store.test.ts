import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Counter } from '#domain/limit-store.ts';
import { deploymentWindows, type Window } from '#domain/windows.ts';
import { MemoryLimitStore } from './limit-store.ts';

const { minute, day } = deploymentWindows;

function counter(window: Window, fields: Partial<Counter> = {}): Counter {
  return { window, holder: 'one', endsAtMs: 60_000, total: 10, amount: 1, ...fields };
}

describe('the counters in memory', () => {
  it('give what was there before, and add', () => {
    const store = new MemoryLimitStore();
    expect(store.count([counter(minute), counter(day, { amount: 5 })])).toEqual([0, 0]);
    expect(store.count([counter(minute), counter(day, { amount: 0 })])).toEqual([1, 5]);
    expect(store.count([counter(minute, { holder: 'other' }), counter(day, { amount: 0 })])).toEqual([0, 5]);
  });

  it('add nothing at all where one has reached its total', () => {
    const store = new MemoryLimitStore();
    store.count([counter(day, { amount: 10 })]);
    expect(store.count([counter(minute), counter(day)])).toEqual([0, 10]);
    expect(store.count([counter(minute, { amount: 0 })])).toEqual([0]);
  });

  it('add past the total what has to be added', () => {
    const store = new MemoryLimitStore();
    store.count([counter(minute, { amount: 12 })]);
    store.count([counter(minute, { amount: 3, total: Number.POSITIVE_INFINITY })]);
    expect(store.count([counter(minute)])).toEqual([15]);
  });

  it('begin anew with the next period, each window by itself', () => {
    const store = new MemoryLimitStore();
    store.count([counter(minute), counter(day, { endsAtMs: 86_400_000 })]);
    expect(store.count([counter(minute, { endsAtMs: 120_000 }), counter(day, { endsAtMs: 86_400_000 })])).toEqual([0, 1]);
  });

  it('agree with a plain sum, and never admit past a total', () => {
    const step = fc.record({
      holder: fc.constantFrom('a', 'b'),
      window: fc.constantFrom(minute, day),
      total: fc.integer({ min: 1, max: 6 }),
      amount: fc.integer({ min: 0, max: 2 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const store = new MemoryLimitStore();
        const sums = new Map<string, number>();
        for (const each of steps) {
          const key = `${each.window.period} ${each.holder}`;
          const sum = sums.get(key) ?? 0;
          expect(store.count([{ ...each, endsAtMs: 60_000 }])).toEqual([sum]);
          if (sum < each.total) sums.set(key, sum + each.amount);
        }
      }),
    );
  });
});
