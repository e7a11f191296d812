import { describe, expect, it } from 'vitest';
import type { Exchange, HttpClient, ReplyListener } from '#base/http/client.ts';
import { Secret } from '#base/secrets/secret.ts';
import type { Ask } from '#domain/upstreams/upstream.ts';
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
  const ask = { upstream, request: { messages }, headers: {} } as unknown as Ask;
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
});
