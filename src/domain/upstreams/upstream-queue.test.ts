import { describe, expect, it } from 'vitest';
import type { Deployment } from '../deployments/deployment.ts';
import { UpstreamQueue, type WaitingCall } from './upstream-queue.ts';

/** Creates a queue for a deployment with one upstream. `startNext` returns the calls that it starts, in order. */
function startQueue({ maxWaiting = 100, maxWaitMs = 60_000, maxParallel = 1 } = {}) {
  const queue = new UpstreamQueue((maxParallel) => maxParallel);
  const deployment = {
    id: 'gpt',
    queue: { maxWaiting, maxWaitMs },
    upstreams: [{ weight: 1, maxParallel }],
  } as unknown as Deployment;
  const log: string[] = [];
  let capacity = 0;
  /** Whether the upstreams that can answer selective calls are full. */
  let isFullForSelective = false;
  const add = (name: string, { isBatch = false, isSelective = false } = {}): WaitingCall => {
    const call: WaitingCall = {
      caller: name.slice(0, 1),
      startedAtMs: Number(name.slice(1)),
      isBatch,
      isSelective,
      start() {
        if (capacity === 0 || (isSelective && isFullForSelective)) return false;
        capacity -= 1;
        log.push(name);
        return true;
      },
      fail: (error) => log.push(`${name} ${error.code} ${error.retryAfterSeconds}`),
    };
    queue.add(deployment, call);
    return call;
  };
  const startNext = (count: number, isFullForSelectiveCalls = false): string[] => {
    capacity = count;
    isFullForSelective = isFullForSelectiveCalls;
    queue.startNext('gpt');
    return log.splice(0);
  };
  return { queue, deployment, add, startNext, log };
}

describe('UpstreamQueue', () => {
  it('lets callers take turns, each in order of arrival', () => {
    const { add, startNext } = startQueue();
    for (const name of ['a1', 'a2', 'a3', 'b1', 'b2']) add(name);
    expect(startNext(3)).toEqual(['a1', 'b1', 'a2']);
    add('c1');
    expect(startNext(9)).toEqual(['c1', 'b2', 'a3']);
  });

  it('starts batch calls after all interactive calls', () => {
    const { add, startNext } = startQueue();
    add('a1', { isBatch: true });
    add('b1');
    add('c1', { isBatch: true });
    add('b2');
    expect(startNext(9)).toEqual(['b1', 'b2', 'a1', 'c1']);
  });

  it('replaces the newest call of the caller with the most waiting calls if it is full', () => {
    const { add, startNext, log } = startQueue({ maxWaiting: 3 });
    for (const name of ['a1', 'a2', 'a3']) add(name);
    expect(() => add('a4')).toThrow('Every upstream of gpt is busy. Try again in 1 s.');
    add('b1');
    expect(log.splice(0)).toEqual(['a3 overloaded 1']);
    expect(() => add('b2')).toThrow('busy');
    expect(startNext(9)).toEqual(['a1', 'b1', 'a2']);
  });

  it('replaces batch calls first, and never an interactive call with a batch call', () => {
    const { add, log } = startQueue({ maxWaiting: 2 });
    add('a1');
    add('b1', { isBatch: true });
    add('a2');
    expect(log.splice(0)).toEqual(['b1 overloaded 1']);
    expect(() => add('b2', { isBatch: true })).toThrow('busy');
  });

  it('rejects every call if no call may wait', () => {
    const { add } = startQueue({ maxWaiting: 0 });
    expect(() => add('a1')).toThrow('busy');
  });

  it('rejects a call that would probably wait too long, with the expected wait as Retry-After', () => {
    const { queue, add, deployment } = startQueue({ maxWaitMs: 25_000, maxParallel: 2 });
    queue.recordDuration('gpt', 20_000);
    add('a1');
    const second = add('a2');
    expect(() => add('a3')).toThrow('Try again in 30 s.');
    expect(queue.toTimeoutError(deployment, second)).toMatchObject({ code: 'overloaded', retryAfterSeconds: 30 });
    // The turn of another caller comes earlier.
    add('b1');
  });

  it('forgets canceled calls', () => {
    const { queue, deployment, add, startNext } = startQueue();
    const [first] = [add('a1'), add('a2')];
    queue.remove(deployment, first);
    queue.remove(deployment, first);
    expect([...queue.listSizes()]).toEqual([{ deployment: 'gpt', size: 1 }]);
    expect(queue.findOldestStartMs('gpt')).toBe(2);
    expect(startNext(9)).toEqual(['a2']);
    expect(queue.hasWaiting('gpt', true)).toBe(false);
  });

  it('holds calls that only some upstreams can answer, without holding other calls', () => {
    const { queue, add, startNext } = startQueue();
    const selective = { isSelective: true };
    add('a1', selective);
    expect([queue.hasWaiting('gpt', true), queue.hasWaiting('gpt', false)]).toEqual([true, false]);
    add('a2');
    add('b1', { isSelective: true, isBatch: true });
    add('c1', { isBatch: true });
    add('d1');
    expect(startNext(9, true)).toEqual(['a2', 'd1', 'c1']);
    add('d2', selective);
    expect([queue.hasWaiting('gpt', false), startNext(9)]).toEqual([false, ['a1', 'd2', 'b1']]);
  });
});
