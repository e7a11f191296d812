import cluster, { type Worker } from 'node:cluster';
import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Clock, systemClock } from '#base/time/clock.ts';
import { createLog } from '#telemetry/log.ts';
import { Supervisor } from './supervisor.ts';

const log = createLog({ level: 'silent', sink: { write() {} }, secrets: () => [] });

/** Signals that the supervisor sent to the worker. */
let signals: string[];
let isAnswering: boolean;

beforeEach(() => {
  vi.useFakeTimers();
  signals = [];
  isAnswering = true;
  vi.spyOn(cluster, 'setupPrimary').mockReturnValue();
  vi.spyOn(cluster, 'fork').mockImplementation(() => {
    const send = ({ id }: { id: number }) => isAnswering && child.emit('message', { answers: id });
    const child = Object.assign(new EventEmitter(), { send, process: { kill: (signal: string) => signals.push(signal) } });
    return child as unknown as Worker;
  });
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

async function startSupervisor(clock: Clock): Promise<void> {
  const supervisor: Supervisor = new Supervisor({
    count: 1,
    clock,
    log,
    createHandlers(process) {
      queueMicrotask(() => supervisor.markReady(process));
      return new Map();
    },
    onLines() {},
    onRemoved() {},
  });
  await supervisor.start();
}

describe('Supervisor', () => {
  it('kills a worker that does not answer for 30 s', async () => {
    await startSupervisor(systemClock);
    await vi.advanceTimersByTimeAsync(100_000);
    isAnswering = false;
    await vi.advanceTimersByTimeAsync(25_000);
    expect(signals).toEqual([]);
    isAnswering = true;
    await vi.advanceTimersByTimeAsync(5_000);
    isAnswering = false;
    await vi.advanceTimersByTimeAsync(30_000);
    expect(signals).toEqual([]);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(signals).toEqual(['SIGKILL']);
  });

  it('kills no worker for a pause of the machine', async () => {
    let pausedMs = 0;
    await startSupervisor({ ...systemClock, nowMs: () => performance.now() + pausedMs });
    isAnswering = false;
    for (let pauses = 0; pauses < 20; pauses += 1) {
      pausedMs += 60_000;
      await vi.advanceTimersByTimeAsync(5_000);
    }
    expect(signals).toEqual([]);
    await vi.advanceTimersByTimeAsync(35_000);
    expect(signals).toEqual(['SIGKILL']);
  });
});
