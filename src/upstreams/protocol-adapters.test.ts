import { expect, it } from 'vitest';
import { pipeFrom, toAsyncIterable } from '#base/stream/async-items.ts';
import type { Handle, Sink } from '#base/stream/sink.ts';
import type { Usage } from '#contract/chat/chunk.ts';
import { Frame, type RawFrame } from '#contract/chat/frame.ts';
import { UpstreamError } from '#domain/upstreams/upstream.ts';
import { fanOut } from './protocol-adapters.ts';

const head = { id: 'x', object: 'chat.completion.chunk' as const, created: 1 };

/** Returns the merged frames of three concurrent replies. `open` returns the frames of each. */
function fanOutThree(open: (signal: AbortSignal) => AsyncIterable<Frame>): AsyncIterable<RawFrame> {
  return toAsyncIterable((sink) => fanOut(3, (choice) => pipeFrom(open, choice), sink));
}

async function* reply(usage: Usage): AsyncIterable<Frame> {
  yield Frame.ofChunks(
    { ...head, choices: [{ index: 0, delta: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }] },
    { ...head, choices: [], usage },
  );
}

it('sums the usage of all replies, including tokens with separate prices', async () => {
  const counts = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 };
  const usages: Usage[] = [
    { ...counts, prompt_tokens_details: { cached_tokens: 4 } },
    {
      ...counts,
      prompt_tokens_details: { cached_tokens: 6, cache_write_tokens: 1 },
      completion_tokens_details: { reasoning_tokens: 2 },
    },
    counts,
  ];
  let count = 0;
  const chunks = [];
  for await (const frame of fanOutThree(() => reply(usages[count++] ?? counts))) chunks.push(...frame.chunks);
  expect(chunks.at(-1)?.usage).toEqual({
    prompt_tokens: 30,
    completion_tokens: 6,
    total_tokens: 36,
    prompt_tokens_details: { cached_tokens: 10, cache_write_tokens: 1 },
    completion_tokens_details: { reasoning_tokens: 2 },
  });
  expect(chunks.flatMap(({ choices }) => choices.map(({ index }) => index)).sort()).toEqual([0, 1, 2]);
});

it('uses the ID of the first reply', async () => {
  let count = 0;
  async function* replyWithId(): AsyncIterable<Frame> {
    count += 1;
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    const id = `r${count}`;
    yield Frame.ofChunks(
      { ...head, id, choices: [{ index: 0, delta: { content: 'hi' }, finish_reason: null }] },
      { ...head, id, choices: [], usage },
    );
  }
  const ids = [];
  for await (const frame of fanOutThree(replyWithId)) ids.push(...frame.chunks.map(({ id }) => id));
  expect(ids).toEqual(['r1', 'r1', 'r1', 'r1']);
});

it('stays paused if its client paused it before all replies had started', () => {
  const states: string[] = [];
  const sinks: Sink<RawFrame>[] = [];
  const start = (choice: Sink<RawFrame>): Handle => {
    const index = sinks.push(choice) - 1;
    states.push('running');
    return {
      pause: () => void states.splice(index, 1, 'paused'),
      resume: () => void states.splice(index, 1, 'running'),
      cancel() {},
    };
  };
  const merged = fanOut(2, start, { push() {}, end() {}, fail() {} });
  merged.pause();
  const frame = Frame.ofChunks({ ...head, choices: [{ index: 0, delta: { content: 'hi' }, finish_reason: null }] });
  for (const sink of sinks) sink.push(frame);
  expect(states).toEqual(['paused', 'paused']);
  merged.resume();
  expect(states).toEqual(['running', 'running']);
});

it('sends no frames if one reply is rejected before its first frame, so that another upstream can be tried', async () => {
  let count = 0;
  const signals: AbortSignal[] = [];
  const frames = fanOutThree((signal) => {
    signals.push(signal);
    count += 1;
    return count === 2 ? rejectedReply() : reply({ prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 });
  });
  await expect(frames[Symbol.asyncIterator]().next()).rejects.toThrow('busy');
  expect(signals.every(({ aborted }) => aborted)).toBe(true);
});

async function* rejectedReply(): AsyncIterable<Frame> {
  await new Promise((resolve) => setImmediate(resolve));
  throw new UpstreamError('refused', 'busy', { status: 429 });
}

it('cancels the started replies if another one cannot be started', () => {
  let count = 0;
  let cancelCount = 0;
  const sink = { push() {}, end() {}, fail() {} };
  const cancel = (): void => {
    cancelCount += 1;
  };
  const start = () => {
    count += 1;
    if (count === 3) throw new UpstreamError('broken', 'no endpoint');
    return { pause() {}, resume() {}, cancel };
  };
  expect(() => fanOut(3, start, sink)).toThrow('no endpoint');
  expect(cancelCount).toBe(2);
});
