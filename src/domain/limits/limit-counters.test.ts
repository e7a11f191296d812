import { describe, expect, it, vi } from 'vitest';
import { systemClock } from '#base/time/clock.ts';
import { CallQueues } from './limit-counters.ts';

/** Returns a clock that the test advances manually. Its pauses resolve on the next event loop turn. */
function createManualClock() {
  let nowMs = 0;
  return {
    ...systemClock,
    nowMs: () => nowMs,
    sleep: () => new Promise<void>((resolve) => setImmediate(resolve)),
    advance(ms: number) {
      nowMs += ms;
    },
  };
}

const always = () => true;

/** Simulates capacity for `total` concurrent calls, and counts the attempts. */
function createCapacity(total: number) {
  const state = { used: total, attempts: 0 };
  const attempt = async () => {
    state.attempts += 1;
    return state.used < total ? `in ${++state.used}` : 'held';
  };
  const call = { firstOutcome: 'held', attempt, isBlocked: (outcome: string) => outcome === 'held', isClientConnected: always };
  return { state, call };
}

describe('CallQueues', () => {
  it('admits calls in FIFO order as capacity becomes available', async () => {
    const queues = new CallQueues<string>(systemClock);
    const { state, call } = createCapacity(2);
    const order: string[] = [];
    const all = ['a', 'b', 'c'].map((name) => queues.enqueue('line', call).then((outcome) => order.push(`${name} ${outcome}`)));
    state.used = 0;
    queues.wake('line');
    await vi.waitFor(() => expect(order).toEqual(['a in 1', 'b in 2']));
    state.used = 1;
    queues.wake('line');
    await Promise.all(all);
    expect(order).toEqual(['a in 1', 'b in 2', 'c in 2']);
  });

  it('retries automatically if no wake-up arrives', async () => {
    const queues = new CallQueues<string>(systemClock);
    const { state, call } = createCapacity(1);
    const outcome = queues.enqueue('line', call);
    state.used = 0;
    expect(await outcome).toBe('in 1');
  });

  it('returns the last outcome after five seconds', async () => {
    const clock = createManualClock();
    const queues = new CallQueues<string>(clock);
    const { state, call } = createCapacity(1);
    const outcomes = Promise.all([queues.enqueue('line', call), queues.enqueue('line', call)]);
    await vi.waitFor(() => expect(state.attempts).toBeGreaterThan(3));
    clock.advance(5_000);
    expect(await outcomes).toEqual(['held', 'held']);
  });

  it('removes a call without another attempt if its client disconnects', async () => {
    const queues = new CallQueues<string>(systemClock);
    const { state, call } = createCapacity(1);
    expect(await queues.enqueue('line', { ...call, isClientConnected: () => false })).toBe('held');
    expect(state.attempts).toBe(0);
  });

  it('reports the error of an attempt and continues with the next call', async () => {
    const queues = new CallQueues<string>(systemClock);
    const { state, call } = createCapacity(1);
    const failing = queues.enqueue('line', { ...call, attempt: () => Promise.reject(new Error('gone')) });
    const next = queues.enqueue('line', call);
    state.used = 0;
    await expect(failing).rejects.toThrow('gone');
    expect(await next).toBe('in 1');
  });

  it('holds at most 1000 calls per queue and does not delay other queues', async () => {
    const clock = createManualClock();
    const queues = new CallQueues<string>(clock);
    const { call } = createCapacity(1);
    const all = Array.from({ length: 1_000 }, () => queues.enqueue('line', call));
    expect(await queues.enqueue('line', { ...call, firstOutcome: 'too many' })).toBe('too many');
    const other = createCapacity(1);
    other.state.used = 0;
    expect(await queues.enqueue('other', other.call)).toBe('in 1');
    clock.advance(5_000);
    expect(new Set(await Promise.all(all))).toEqual(new Set(['held']));
  });
});
