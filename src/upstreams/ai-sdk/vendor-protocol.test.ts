import { describe, expect, it, onTestFinished } from 'vitest';
import type { Exchange, HttpClient, ReplyListener } from '#base/http/client.ts';
import { LeanClient } from '#base/http/lean-client.ts';
import { Secret } from '#base/secrets/secret.ts';
import { toAsyncIterable } from '#base/stream/async-items.ts';
import { systemClock } from '#base/time/clock.ts';
import type { Attempt, Upstream, UpstreamSink } from '#domain/upstreams/upstream.ts';
import { startScriptedUpstream } from '#test/scripted-upstream.ts';
import { createUpstream, recorded } from '#test/vendor-replies.ts';
import { createVendorProtocol, listUnsupportedFields } from './vendor-protocol.ts';
import { vendors } from './vendors.ts';

const messages = [{ role: 'user' as const, content: 'Hello' }];

describe('listUnsupportedFields', () => {
  it('returns the fields that the vendor does not support', () => {
    const request = {
      messages,
      temperature: 1,
      user: 'u',
      logit_bias: null,
      safety_settings: [],
      parallel_tool_calls: true,
      x: 1,
    };
    expect(listUnsupportedFields(request, vendors.gemini)).toEqual(['user', 'parallel_tool_calls', 'x']);
    expect(listUnsupportedFields(request, vendors.mistral)).toEqual(['user', 'safety_settings', 'x']);
  });
});

/** Replies to each request with events that one read of the connection brings. */
class EventClient implements HttpClient, Exchange {
  readonly #events: string;

  constructor(events: string) {
    this.#events = events;
  }

  send(_request: unknown, listener: ReplyListener): Exchange {
    queueMicrotask(() => {
      listener.head(200, { 'content-type': 'text/event-stream' });
      listener.bytes(this.#events);
      listener.end();
    });
    return this;
  }

  pause(): void {}
  resume(): void {}
  cancel(): void {}
  endWithin(): void {}
  close(): void {}
}

/** Calls Gemini. Returns its frames by the turns of the event loop, or the error. */
async function readByTurns(events: string) {
  const place = { protocol: 'gemini', endpoint: new URL('http://u.test/v1'), key: new Secret('k') };
  const upstream = { ...place, id: 'u', model: 'gemini', headers: {}, timeouts: {} };
  const protocol = createVendorProtocol('gemini', { http: new EventClient(events), clock: { epochMs: () => 0 } });
  const turns = [0];
  const nextTurn = (): void => {
    turns.push(0);
    timer = setImmediate(nextTurn);
  };
  let timer = setImmediate(nextTurn);
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const frame = (): void => {
    turns[turns.length - 1] = (turns.at(-1) ?? 0) + 1;
  };
  const ask = { upstream, request: { messages }, headers: {} } as unknown as Attempt;
  protocol.chat(ask, { frame, end: () => resolve(undefined), fail: resolve });
  const fault = await promise;
  clearImmediate(timer);
  return { fault, turns, frames: turns.reduce((sum, count) => sum + count) };
}

const toEvent = (candidate: object): string => `data: ${JSON.stringify({ candidates: [{ index: 0, ...candidate }] })}\n\n`;
const image = { inlineData: { mimeType: 'image/png', data: 'iVBORw0=' } };

describe('createVendorProtocol', () => {
  it('reads at most 64 parts in one turn of the event loop', async () => {
    const end = toEvent({ content: { role: 'model', parts: [{ text: 'a' }] }, finishReason: 'STOP' });
    const { fault, turns, frames } = await readByTurns(
      toEvent({ content: { role: 'model', parts: [image] } }).repeat(2_000) + end,
    );
    expect(fault).toBeUndefined();
    expect(frames).toBeGreaterThanOrEqual(2_000);
    expect(Math.max(...turns)).toBeLessThanOrEqual(64);
  });

  it.each([
    ['in one line', '"x",', ''],
    ['in one line each', '"x",\ndata: ', ''],
    ['in one line each with CR LF', '"x",\r\ndata: ', ''],
    ['nested', '[', ']'],
  ])('rejects an event with 100,000 invalid parts %s', async (_, part, end) => {
    const [start, rest] = ['data: {"candidates":[{"content":{"parts":[', `"x"]}}]}\n\n`];
    const { fault } = await readByTurns(`${start}${part.repeat(100_000)}${end.repeat(100_000)}${rest}`);
    expect(fault).toMatchObject({ kind: 'broken', message: expect.stringContaining('too many items') });
  });

  it('accepts an event with 1,000 parts after other events, and arguments with 100,000 items', async () => {
    const args = { list: Array.from({ length: 100_000 }, (_, nth) => nth), text: '[{",'.repeat(10_000) };
    const call = { content: { role: 'model', parts: [{ functionCall: { name: 'look', args } }] } };
    const many = toEvent({ content: { role: 'model', parts: Array(1_000).fill(image) } });
    const end = toEvent({ content: { role: 'model', parts: [{ text: 'a' }] }, finishReason: 'STOP' });
    const { fault, frames } = await readByTurns(many.repeat(3) + toEvent(call) + end);
    expect(fault).toBeUndefined();
    expect(frames).toBeGreaterThanOrEqual(3_000);
  });
});

it('what a dialect has nothing for is noted, whether its package leaves it out or we do', async () => {
  await using upstream = await startScriptedUpstream(recorded('bedrock', 'text'));
  const http = new LeanClient();
  onTestFinished(() => http.close());
  const lost: string[] = [];
  const noteLost = ({ id }: Upstream, what: string): number => lost.push(`${id} ${what}`);
  const { chat } = createVendorProtocol('bedrock', { http, clock: systemClock, onUnsupported: noteLost });
  const { key, endpoint, ...others } = createUpstream('bedrock', upstream.url);
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
  for await (const _frame of toAsyncIterable((sink: UpstreamSink) => chat(ask, sink)));
  expect(lost).toEqual(['m user', 'm seed']);
});
