import { describe, expect, it, vi } from 'vitest';
import { systemClock } from '#base/time/clock.ts';
import { CallQueues } from './limit-counters.ts';

/** Returns a clock that the test advances manually. Its pauses resolve on the next event loop turn. */
function toldClock() {
  let nowMs = 0;
  return {
    ...systemClock,
    nowMs: () => nowMs,
    sleep: () => new Promise<void>((resolve) => setImmediate(resolve)),
    forward(ms: number) {
      nowMs += ms;
    },
  };
}

const yes = () => true;

/** Simulates capacity for `total` concurrent calls, and counts the attempts. */
function room(total: number) {
  const state = { used: total, attempts: 0 };
  const attempt = async () => {
    state.attempts += 1;
    return state.used < total ? `in ${++state.used}` : 'held';
  };
  const call = { firstOutcome: 'held', attempt, isBlocked: (outcome: string) => outcome === 'held', isClientConnected: yes };
  return { state, call };
}

describe('CallQueues', () => {
  it('admits calls in FIFO order as capacity becomes available', async () => {
    const waiting = new CallQueues<string>(systemClock);
    const { state, call } = room(2);
    const order: string[] = [];
    const all = ['a', 'b', 'c'].map((name) => waiting.enqueue('line', call).then((outcome) => order.push(`${name} ${outcome}`)));
    state.used = 0;
    waiting.wake('line');
    await vi.waitFor(() => expect(order).toEqual(['a in 1', 'b in 2']));
    state.used = 1;
    waiting.wake('line');
    await Promise.all(all);
    expect(order).toEqual(['a in 1', 'b in 2', 'c in 2']);
  });

  it('retries automatically if no wake-up arrives', async () => {
    const waiting = new CallQueues<string>(systemClock);
    const { state, call } = room(1);
    const outcome = waiting.enqueue('line', call);
    state.used = 0;
    expect(await outcome).toBe('in 1');
  });

  it('returns the last outcome after five seconds', async () => {
    const clock = toldClock();
    const waiting = new CallQueues<string>(clock);
    const { state, call } = room(1);
    const outcomes = Promise.all([waiting.enqueue('line', call), waiting.enqueue('line', call)]);
    await vi.waitFor(() => expect(state.attempts).toBeGreaterThan(3));
    clock.forward(5_000);
    expect(await outcomes).toEqual(['held', 'held']);
  });

  it('removes a call without another attempt if its client disconnects', async () => {
    const waiting = new CallQueues<string>(systemClock);
    const { state, call } = room(1);
    expect(await waiting.enqueue('line', { ...call, isClientConnected: () => false })).toBe('held');
    expect(state.attempts).toBe(0);
  });

  it('reports the error of an attempt and continues with the next call', async () => {
    const waiting = new CallQueues<string>(systemClock);
    const { state, call } = room(1);
    const failing = waiting.enqueue('line', { ...call, attempt: () => Promise.reject(new Error('gone')) });
    const next = waiting.enqueue('line', call);
    state.used = 0;
    await expect(failing).rejects.toThrow('gone');
    expect(await next).toBe('in 1');
  });

  it('holds at most 1000 calls per queue and does not delay other queues', async () => {
    const clock = toldClock();
    const waiting = new CallQueues<string>(clock);
    const { call } = room(1);
    const all = Array.from({ length: 1_000 }, () => waiting.enqueue('line', call));
    expect(await waiting.enqueue('line', { ...call, firstOutcome: 'too many' })).toBe('too many');
    const other = room(1);
    other.state.used = 0;
    expect(await waiting.enqueue('other', other.call)).toBe('in 1');
    clock.forward(5_000);
    expect(new Set(await Promise.all(all))).toEqual(new Set(['held']));
  });
});
