import { expect, it } from 'vitest';
import { pipeOneFrom } from '#base/stream/async-items.ts';
import type { Sink } from '#base/stream/sink.ts';
import { systemClock } from '#base/time/clock.ts';
import type { AttemptOutcome } from '#domain/calls/telemetry.ts';
import { LoadBalancer } from '#domain/upstreams/load-balancer.ts';
import { type Upstream, UpstreamError } from '#domain/upstreams/upstream.ts';
import { type FailoverInput, failover, fetchFromUpstreams } from './failover.ts';

const upstream = { id: 'app', revision: 'app', protocol: 'openai', headers: {}, weight: 1, tier: 0 } as unknown as Upstream;
const ended = { end: () => undefined, recordFirstFrame: () => undefined };

/** Fails calls of an application with 500. Returns the number of requests that reached it. */
function failCalls(hasRejectedInnerCall: boolean): number {
  const deps = { loadBalancer: new LoadBalancer(), clock: { nowMs: () => 0 } };
  let count = 0;
  const sendRequest: FailoverInput<never>['sendRequest'] = (_upstream, _attempt, sink) => {
    count += 1;
    sink.fail(new UpstreamError('refused', 'failed', { status: 500 }));
    return { pause: () => undefined, resume: () => undefined, cancel: () => undefined };
  };
  const toAttempts = (call: number) => ({
    target: {
      call: { record: { startAttempt: () => ended }, caller: { subject: `user ${call}`, roles: [], chain: null } },
      deployment: { id: 'app', upstreams: [upstream], maxAttempts: 1 },
      snapshot: { configuration: { roles: {} } },
    },
    account: { startAttempt: () => undefined, hasRejectedInnerCall },
    sendRequest,
  });
  const sink: Sink<never> = { push: () => undefined, end: () => undefined, fail: () => undefined };
  for (let call = 0; call < 10; call += 1) failover(deps as never, toAttempts(call) as never, sink);
  return count;
}

it('pauses an upstream whose calls fail, unless Parley rejected an inner call of the application', () => {
  expect(failCalls(false)).toBeLessThan(10);
  expect(failCalls(true)).toBe(10);
});

it('fetchFromUpstreams records an attempt that returned its result as ok', async () => {
  const outcomes: AttemptOutcome[] = [];
  const startAttempt = () => ({ end: (outcome: AttemptOutcome) => outcomes.push(outcome) });
  const upstream = { id: 'a', revision: 'a', weight: 1, tier: 0 };
  const attempts = {
    target: { call: { record: { startAttempt } }, deployment: { id: 'd', upstreams: [upstream], maxAttempts: 1 } },
    sendRequest: (_upstream: unknown, _attempt: unknown, sink: Sink<number>) => pipeOneFrom(async () => 1, sink),
  } as unknown as FailoverInput<number>;
  const deps = { loadBalancer: new LoadBalancer(), clock: systemClock };
  expect(await fetchFromUpstreams(deps, attempts, new AbortController().signal)).toBe(1);
  expect(outcomes).toEqual(['ok']);
});
