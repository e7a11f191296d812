import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '#base/time/clock.ts';
import type { Counter, CounterArchive, CounterState, StoredCounter } from '#domain/limits/limit-store.ts';
import { deploymentWindows } from '#domain/limits/windows.ts';
import { StoreError } from '#domain/store-error.ts';
import { ArchivedLimitStore } from './archived-limit-store.ts';

const window = deploymentWindows.month;
const endsAtMs = 5_000_000_000_000;
const counter = (amount: number): Counter => ({ window, holder: 'm\nuser', endsAtMs, total: 1000, amount, claimIndex: -1 });
const noClaims = { claims: [], lease: '' };

function start(archive: Partial<CounterArchive>) {
  const saved: CounterState[][] = [];
  const reportedErrors: string[] = [];
  const save = async (counters: readonly CounterState[]) => void saved.push([...counters]);
  const store = new ArchivedLimitStore({
    archive: { load: async () => [], save, ...archive },
    clock: systemClock,
    reportError: (message) => reportedErrors.push(message),
    note: () => undefined,
  });
  return { store, saved, reportedErrors };
}

const stored = (used: number, ownUsed: number): StoredCounter => ({ window, holder: 'm\nuser', endsAtMs, used, ownUsed });

describe('ArchivedLimitStore', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('retries every second if it cannot read the counters', async () => {
    let attempts = 0;
    const load = async (): Promise<StoredCounter[]> => {
      attempts += 1;
      if (attempts < 3) throw new StoreError('unavailable');
      return [stored(900, 900)];
    };
    const { store } = start({ load });
    await store.restore();
    expect(store.reserve([counter(0)], []).used).toEqual([0]);
    await vi.advanceTimersByTimeAsync(2000);
    expect(store.reserve([counter(0)], []).used).toEqual([900]);
  });

  it('adds the stored counters to usage that it counted before it read them', async () => {
    const { store, saved } = start({ load: async () => [stored(500, 200)] });
    store.settle([counter(7)], noClaims);
    await store.restore();
    expect(store.reserve([counter(0)], []).used).toEqual([507]);
    await vi.advanceTimersByTimeAsync(999);
    expect(saved).toEqual([[{ window, holder: 'm\nuser', endsAtMs, used: 207 }]]);
  });

  it('saves only changed counters, less than a second after the change', async () => {
    const { store, saved } = start({});
    await store.restore();
    for (const amount of [1, 2, 3]) store.settle([counter(amount)], noClaims);
    await vi.advanceTimersByTimeAsync(999);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(saved.flat().map(({ used }) => used)).toEqual([6]);
  });

  it('retries a failed save and reports the outage once', async () => {
    let isUnavailable = true;
    const saved: number[] = [];
    const save = async (counters: readonly CounterState[]): Promise<void> => {
      if (isUnavailable) throw new StoreError('unavailable');
      saved.push(...counters.map(({ used }) => used));
    };
    const { store, reportedErrors } = start({ save });
    await store.restore();
    store.settle([counter(5)], noClaims);
    await vi.advanceTimersByTimeAsync(5000);
    isUnavailable = false;
    store.settle([counter(5)], noClaims);
    await store.close();
    expect(saved).toEqual([10]);
    expect(reportedErrors).toHaveLength(1);
  });
});
