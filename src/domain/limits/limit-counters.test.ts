import { describe, expect, it, vi } from 'vitest';
import { systemClock } from '#base/time/clock.ts';
import { CallQueues } from './limit-counters.ts';

/** A clock whose time is told, and whose pauses end at once. */
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

/** Room for some calls, and what each attempt found: how many were in before. */
function room(total: number) {
  const state = { used: total, attempts: 0 };
  const attempt = async () => {
    state.attempts += 1;
    return state.used < total ? `in ${++state.used}` : 'held';
  };
  const call = { firstOutcome: 'held', attempt, isBlocked: (outcome: string) => outcome === 'held', isClientConnected: yes };
  return { state, call };
}

describe('calls that wait in line', () => {
  it('are let in one after the other, as there is room, first come, first served', async () => {
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

  it('try by themselves, for what nobody tells them', async () => {
    const waiting = new CallQueues<string>(systemClock);
    const { state, call } = room(1);
    const outcome = waiting.enqueue('line', call);
    state.used = 0;
    expect(await outcome).toBe('in 1');
  });

  it('are told the last outcome once they have waited for five seconds', async () => {
    const clock = toldClock();
    const waiting = new CallQueues<string>(clock);
    const { state, call } = room(1);
    const outcomes = Promise.all([waiting.enqueue('line', call), waiting.enqueue('line', call)]);
    await vi.waitFor(() => expect(state.attempts).toBeGreaterThan(3));
    clock.forward(5_000);
    expect(await outcomes).toEqual(['held', 'held']);
  });

  it('leave the line when nobody wants them, without another attempt', async () => {
    const waiting = new CallQueues<string>(systemClock);
    const { state, call } = room(1);
    expect(await waiting.enqueue('line', { ...call, isClientConnected: () => false })).toBe('held');
    expect(state.attempts).toBe(0);
  });

  it('hear of an attempt that fails, and those behind go on', async () => {
    const waiting = new CallQueues<string>(systemClock);
    const { state, call } = room(1);
    const failing = waiting.enqueue('line', { ...call, attempt: () => Promise.reject(new Error('gone')) });
    const next = waiting.enqueue('line', call);
    state.used = 0;
    await expect(failing).rejects.toThrow('gone');
    expect(await next).toBe('in 1');
  });

  it('are a thousand of a line at most; others are not held up by it', async () => {
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
