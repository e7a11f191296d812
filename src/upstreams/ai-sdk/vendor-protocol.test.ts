import { describe, expect, it, onTestFinished } from 'vitest';
import { LeanClient } from '#base/http/lean-client.ts';
import { Secret } from '#base/secrets/secret.ts';
import { pushed } from '#base/stream/async-items.ts';
import { systemClock } from '#base/time/clock.ts';
import type { Upstream, UpstreamSink } from '#domain/upstreams/upstream.ts';
import { startScriptedUpstream } from '#test/scripted-upstream.ts';
import { recorded, upstreamOf } from '#test/vendor-replies.ts';
import { createVendorProtocol, lostFields } from './vendor-protocol.ts';

const messages = [{ role: 'user' as const, content: 'Hello' }];

describe('lostFields', () => {
  it('names what the vendor has nothing for', () => {
    const request = {
      messages,
      temperature: 1,
      user: 'u',
      logit_bias: null,
      safety_settings: [],
      parallel_tool_calls: true,
      x: 1,
    };
    expect(lostFields(request, 'gemini')).toEqual(['user', 'parallel_tool_calls', 'x']);
    expect(lostFields(request, 'mistral')).toEqual(['user', 'safety_settings', 'x']);
  });
});

it('what a dialect has nothing for is noted, whether its package leaves it out or we do', async () => {
  await using upstream = await startScriptedUpstream(recorded('bedrock', 'text'));
  const http = new LeanClient();
  onTestFinished(() => http.close());
  const lost: string[] = [];
  const noteLost = ({ id }: Upstream, what: string): number => lost.push(`${id} ${what}`);
  const { chat } = createVendorProtocol('bedrock', { http, clock: systemClock, noteLost });
  const { key, endpoint, ...others } = upstreamOf('bedrock', upstream.url);
  const nothing = { apiVersion: undefined, headers: {}, weight: 1, tier: 0 };
  const timeouts = { connectMs: 60_000, firstByteMs: 60_000, idleMs: 60_000 };
  const asked = {
    ...nothing,
    ...others,
    id: 'm',
    revision: 'm',
    protocol: 'bedrock' as const,
    endpoint: new URL(endpoint),
    key: new Secret(key),
    timeouts,
  };
  const request = { messages: [{ role: 'user' as const, content: 'Hello' }], seed: 7, user: 'u' };
  const ask = { upstream: { ...asked, region: 'r' }, request, headers: {} };
  for await (const _frame of pushed((sink: UpstreamSink) => chat(ask, sink)));
  expect(lost).toEqual(['m user', 'm seed']);
});
