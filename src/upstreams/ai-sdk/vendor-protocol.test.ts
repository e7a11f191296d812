import { describe, expect, it, onTestFinished } from 'vitest';
import type { Exchange, HttpClient, ReplyListener } from '#base/http/client.ts';
import { LeanClient } from '#base/http/lean-client.ts';
import { Secret } from '#base/secrets/secret.ts';
import { toAsyncIterable } from '#base/stream/async-items.ts';
import { systemClock } from '#base/time/clock.ts';
import type { Attempt, Upstream, UpstreamSink } from '#domain/upstreams/upstream.ts';
import { startScriptedUpstream } from '#test/scripted-upstream.ts';
import { createRecordedReply, createUpstream } from '#test/vendor-replies.ts';
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

/** Answers each request with events that arrive in one read of the connection. */
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

/** Calls Gemini. Returns the number of frames in each turn of the event loop, and the error. */
async function readByTurns(events: string) {
  const settings = { protocol: 'gemini', endpoint: new URL('http://u.test/v1'), key: new Secret('k') };
  const upstream = { ...settings, id: 'u', model: 'gemini', headers: {}, timeouts: {} };
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
  const attempt = { upstream, request: { messages }, headers: {} } as unknown as Attempt;
  protocol.chat(attempt, { push: frame, end: () => resolve(undefined), fail: resolve });
  const error = await promise;
  clearImmediate(timer);
  return { error, turns, frames: turns.reduce((sum, count) => sum + count) };
}

const toEvent = (candidate: object): string => `data: ${JSON.stringify({ candidates: [{ index: 0, ...candidate }] })}\n\n`;
const image = { inlineData: { mimeType: 'image/png', data: 'iVBORw0=' } };

describe('createVendorProtocol', () => {
  it('reads at most 64 parts in one turn of the event loop', async () => {
    const end = toEvent({ content: { role: 'model', parts: [{ text: 'a' }] }, finishReason: 'STOP' });
    const { error, turns, frames } = await readByTurns(
      toEvent({ content: { role: 'model', parts: [image] } }).repeat(2_000) + end,
    );
    expect(error).toBeUndefined();
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
    const { error } = await readByTurns(`${start}${part.repeat(100_000)}${end.repeat(100_000)}${rest}`);
    expect(error).toMatchObject({ kind: 'broken', message: expect.stringContaining('too many items') });
  });

  it('accepts an event with 1,000 parts after other events, and arguments with 100,000 items', async () => {
    const args = { list: Array.from({ length: 100_000 }, (_, index) => index), text: '[{",'.repeat(10_000) };
    const call = { content: { role: 'model', parts: [{ functionCall: { name: 'search', args } }] } };
    const many = toEvent({ content: { role: 'model', parts: Array(1_000).fill(image) } });
    const end = toEvent({ content: { role: 'model', parts: [{ text: 'a' }] }, finishReason: 'STOP' });
    const { error, frames } = await readByTurns(many.repeat(3) + toEvent(call) + end);
    expect(error).toBeUndefined();
    expect(frames).toBeGreaterThanOrEqual(3_000);
  });
});

it('createVendorProtocol reports unsupported fields, whether the package or Parley drops them', async () => {
  await using upstream = await startScriptedUpstream(createRecordedReply('bedrock', 'text'));
  const http = new LeanClient();
  onTestFinished(() => http.close());
  const reports: string[] = [];
  const onUnsupported = ({ id }: Upstream, feature: string): number => reports.push(`${id} ${feature}`);
  const { chat } = createVendorProtocol('bedrock', { http, clock: systemClock, onUnsupported });
  const { key, endpoint, ...settings } = createUpstream('bedrock', upstream.url);
  const defaults = { apiVersion: undefined, headers: {}, weight: 1, tier: 0 };
  const timeouts = { connectMs: 60_000, firstByteMs: 60_000, idleMs: 60_000 };
  const bedrock = {
    ...defaults,
    ...settings,
    id: 'm',
    revision: 'm',
    protocol: 'bedrock' as const,
    endpoint: new URL(endpoint),
    key: new Secret(key),
    timeouts,
  };
  const request = { messages: [{ role: 'user' as const, content: 'Hello' }], seed: 7, user: 'u' };
  const attempt = { upstream: { ...bedrock, region: 'r' }, request, headers: {} };
  for await (const _frame of toAsyncIterable((sink: UpstreamSink) => chat(attempt, sink)));
  expect(reports).toEqual(['m user', 'm seed']);
});
