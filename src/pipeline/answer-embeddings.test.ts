import { expect, it, vi } from 'vitest';
import { systemClock } from '#base/time/clock.ts';
import type { CallStart } from '#domain/calls/telemetry.ts';
import { LoadBalancer } from '#domain/upstreams/load-balancer.ts';
import { noopTelemetry } from '#test/noop-telemetry.ts';
import { answerEmbeddings } from './answer-embeddings.ts';

it('answerEmbeddings charges and reports the estimated usage of a call that is canceled at its upstream', async () => {
  const client = new AbortController();
  const [settle, report] = [vi.fn(), vi.fn()];
  const embed = () => {
    setImmediate(() => client.abort());
    return { pause: () => undefined, resume: () => undefined, cancel: () => undefined };
  };
  const deps = {
    loadBalancer: new LoadBalancer(),
    clock: systemClock,
    protocols: { openai: { embed } },
    reserveQuota: async () => ({ headers: {}, claims: [], settle }),
  };
  const upstreams = [{ id: 'a', revision: 'a', protocol: 'openai', weight: 1, tier: 0 }];
  const target = {
    call: { id: 'c', caller: { subject: 's', chain: { report } }, record: noopTelemetry.startCall({} as CallStart) },
    deployment: { id: 'm', kind: 'model', ownership: null, upstreams, maxAttempts: 1 },
    snapshot: { configuration: { roles: {} } },
  };
  const call = { target, request: { input: 'four' }, signal: client.signal };
  await expect(answerEmbeddings(deps as never, call as never)).rejects.toThrow();
  expect(settle).toHaveBeenCalledWith({ tokens: 1, cost: 0 });
  expect(report).toHaveBeenCalledWith([expect.objectContaining({ model: 'm', prompt_tokens: 1, estimated: true })]);
});
