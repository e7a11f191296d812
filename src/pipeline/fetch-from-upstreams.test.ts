import { expect, it } from 'vitest';
import { pipeOneFrom } from '#base/stream/async-items.ts';
import type { Sink } from '#base/stream/sink.ts';
import { systemClock } from '#base/time/clock.ts';
import type { AttemptOutcome } from '#domain/telemetry.ts';
import { LoadBalancer } from '#domain/upstreams/load-balancer.ts';
import type { Attempts } from './failover.ts';
import { fetchFromUpstreams } from './fetch-from-upstreams.ts';

it('fetchFromUpstreams records an attempt that returned its result as ok', async () => {
  const outcomes: AttemptOutcome[] = [];
  const startAttempt = () => ({ end: (outcome: AttemptOutcome) => outcomes.push(outcome) });
  const upstream = { id: 'a', revision: 'a', weight: 1, tier: 0 };
  const attempts = {
    deployment: { id: 'd', upstreams: [upstream], maxAttempts: 1 },
    record: { startAttempt },
    sendRequest: (_upstream: unknown, _attempt: unknown, sink: Sink<number>) => pipeOneFrom(async () => 1, sink),
  } as unknown as Attempts<number>;
  const deps = { loadBalancer: new LoadBalancer(), clock: systemClock };
  expect(await fetchFromUpstreams(deps, attempts, new AbortController().signal)).toBe(1);
  expect(outcomes).toEqual(['ok']);
});
