import { describe, expect, it } from 'vitest';
import { systemClock } from '#base/time/clock.ts';
import { LimitCounters, toLimitAccount } from '#domain/limits/limit-counters.ts';
import { deploymentWindows } from '#domain/limits/windows.ts';
import { MemoryLimitStore } from '#stores/memory/limit-store.ts';

describe('LimitCounters with a limit of parallel calls', () => {
  const limits = [{ window: deploymentWindows.maxParallel, total: 2, isOverall: false }];
  const request = { estimate: { tokens: 0, cost: 0 }, chainClaims: [], isClientConnected: () => true };
  const noUsage = { tokens: 0, cost: 0 };

  it('estimates the end of the next call from the durations of the last ones', async () => {
    let now = 0;
    const clock = { ...systemClock, nowMs: () => now, epochMs: () => now };
    const counters = new LimitCounters(new MemoryLimitStore(), clock);
    const account = toLimitAccount('ada', 'm', limits);
    const findRetryAfter = async () => {
      const [status] = await counters.readStatuses(account);
      return [status?.reserved, (status?.resetsAtMs ?? 0) - now];
    };
    const first = await counters.admit(account, request);
    expect(await findRetryAfter()).toEqual([1, 0]);
    now = 60_000;
    await counters.settle(account, first, noUsage);
    expect(await findRetryAfter()).toEqual([0, 30_000]);
    const second = await counters.admit(account, request);
    now = 70_000;
    await counters.settle(account, second, noUsage);
    expect(await findRetryAfter()).toEqual([0, 25_000]);
    expect(await counters.readStatuses(toLimitAccount('bob', 'm', limits))).toMatchObject([{ reserved: 0, resetsAtMs: now }]);
  });

  it('rejects a call immediately, and makes no reservation for it', async () => {
    const sleep = () => expect.unreachable('the call waits');
    const counters = new LimitCounters(new MemoryLimitStore(), { ...systemClock, sleep });
    const account = toLimitAccount('ada', 'm', [...limits, { window: deploymentWindows.requestDay, total: 9, isOverall: false }]);
    const admissions = [await counters.admit(account, request), await counters.admit(account, request)];
    const [parallel, requests] = (await counters.admit(account, request)).statuses;
    expect([parallel?.reserved, requests?.used]).toEqual([2, 2]);
    for (const admission of admissions) await counters.settle(account, admission, noUsage);
    expect(await counters.readStatuses(account)).toMatchObject([{ reserved: 0 }, { used: 2 }]);
  });
});
