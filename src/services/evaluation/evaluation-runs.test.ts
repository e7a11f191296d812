import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '#base/time/clock.ts';
import { StoreError } from '#domain/store-error.ts';
import { EvaluationRun } from './evaluation-runs.ts';

/** Starts a run without cases, whose end cannot be stored. */
function startRun() {
  const end = vi.fn(async (): Promise<void> => {
    throw new StoreError('unavailable');
  });
  const deps = {
    store: { end },
    node: 'a',
    clock: systemClock,
    snapshot: () => ({ configuration: { evaluations: { maxParallel: 1 } } }),
    reportError: () => undefined,
  };
  return { end, run: new EvaluationRun(deps as never, 'id', { cases: [] } as never) };
}

describe('EvaluationRun', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  it('repeats the write of its end until the store is available', async () => {
    const { end, run } = startRun();
    await vi.advanceTimersByTimeAsync(3_600_000);
    const before = end.mock.calls.length;
    end.mockResolvedValue();
    await vi.advanceTimersByTimeAsync(1_000);
    await run.ended;
    expect(end.mock.calls.length).toBe(before + 1);
  });

  it('gives up after the node stops, because another node then stores the end', async () => {
    const { run } = startRun();
    const onEnded = vi.fn();
    void run.ended.then(onEnded);
    await vi.advanceTimersByTimeAsync(10_000);
    run.cancel(undefined);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(onEnded).toHaveBeenCalledOnce();
  });
});
