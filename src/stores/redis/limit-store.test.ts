import { expect, it, vi } from 'vitest';
import { systemClock } from '#base/time/clock.ts';
import { deploymentWindows } from '#domain/limits/windows.ts';
import { RedisLimitStore } from './limit-store.ts';
import type { RedisLink } from './redis-link.ts';

it('RedisLimitStore remembers a bounded number of leases while Redis is unavailable', async () => {
  let onReady = (): void => undefined;
  const hdel = vi.fn(async () => 0);
  const link = {
    node: 'node',
    define: () => undefined,
    onReady: (_key: string, listener: () => void) => {
      onReady = listener;
    },
    run: vi.fn(async () => {
      throw new Error('unavailable');
    }),
  };
  const store = new RedisLimitStore(link as unknown as RedisLink, systemClock);
  const counter = { window: deploymentWindows.day, holder: 'ada', endsAtMs: 1, total: 1, amount: 1, claimIndex: -1 };
  for (let calls = 0; calls < 10_010; calls += 1) await store.reserve([counter], []).catch(() => undefined);
  link.run.mockImplementation(async (...[send]: unknown[]) => (send as (redis: object) => never)({ hdel }));
  onReady();
  await vi.waitFor(() => expect(hdel).toHaveBeenCalledOnce());
  expect(hdel.mock.lastCall?.length).toBe(11);
  store.close();
});
