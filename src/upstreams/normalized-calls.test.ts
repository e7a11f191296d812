import { describe, expect, it } from 'vitest';
import type { Chunk } from '#contract/chat/chunk.ts';
import { Frame, type RawFrame } from '#contract/chat/frame.ts';
import { NormalizedCalls } from './normalized-calls.ts';
import { sendWithTools } from './with-functions.ts';

const raw = (delta: unknown, finish_reason: unknown = null): RawFrame =>
  Frame.ofRawChunks({ choices: [{ index: 0, delta, finish_reason }] } as never);

function collect(frames: readonly RawFrame[], isFunctions = false, newId = () => 'new-id'): Chunk[] {
  const chunks: Chunk[] = [];
  const reply = {
    frame: (frame: RawFrame) => void chunks.push(...(frame.chunks as readonly Chunk[])),
    end() {},
    fail(error: unknown) {
      throw error;
    },
  };
  let sink = new NormalizedCalls({ newId, messages: [] }, reply) as { frame(frame: RawFrame): void };
  const request = { messages: [{ role: 'user' as const, content: 'Hello' }], functions: [{ name: 'f' }] };
  if (isFunctions)
    sendWithTools(request, { reply, newId }, (_request, inner) => {
      sink = inner;
      return { pause() {}, resume() {}, cancel() {} };
    });
  for (const frame of frames) sink.frame(frame);
  return chunks;
}

const whole = (name: string, more: object = {}) => ({ ...more, type: 'function', function: { name, arguments: '{}' } });
const deltas = (chunks: readonly Chunk[]) => chunks.map(({ choices }) => choices[0]?.delta);

describe('NormalizedCalls', () => {
  it.each([5, 'x', {}, [null], [5, whole('f', { index: 0, id: 'a' })], [{ index: 0, function: 5 }]])(
    'drops the malformed parts of %j',
    (tool_calls) => {
      const first = whole('g', { index: 1, id: 'b' });
      const calls = deltas(collect([raw({ tool_calls: [first] }), raw({ tool_calls, function_call: 5 })])).flatMap((delta) => {
        expect(delta).not.toHaveProperty('function_call');
        return delta?.tool_calls ?? [];
      });
      for (const { index, function: called } of calls)
        expect([Number.isInteger(index), typeof called?.arguments]).toEqual([true, 'string']);
    },
  );

  it('creates different IDs in each reply', () => {
    let made = 0;
    const newId = () => `${++made}`.repeat(30);
    const ids = [1, 2]
      .flatMap(() => deltas(collect([raw({ tool_calls: [whole('f'), whole('g')] })], false, newId)))
      .flatMap((delta) => delta?.tool_calls?.map(({ id }) => id ?? '') ?? []);
    expect(new Set(ids).size).toBe(4);
    expect(ids.every((id) => /^[\w-]{1,40}$/.test(id))).toBe(true);
  });
});

describe('the reply to a request with functions', () => {
  it('has only the first of two calls that share an index and have no IDs', () => {
    const chunks = collect(
      [raw({ tool_calls: [whole('weather', { index: 0 })] }), raw({ tool_calls: [whole('time', { index: 0 })] })],
      true,
    );
    expect(deltas(chunks)).toMatchObject([{ function_call: { name: 'weather', arguments: '{}' } }, {}]);
    expect(deltas(chunks)[1]).not.toHaveProperty('function_call');
  });

  it('has the first of several complete calls without indexes', () => {
    expect(deltas(collect([raw({ tool_calls: [whole('f', { id: 'a' }), whole('g', { id: 'b' })] })], true))).toEqual([
      { function_call: { name: 'f', arguments: '{}' } },
    ]);
  });

  it('ends with function_call if the upstream reports stop after a call', () => {
    const chunks = collect([raw({ tool_calls: [whole('f', { index: 0 })] }), raw({}, 'stop')], true);
    expect(chunks.map(({ choices }) => choices[0]?.finish_reason)).toEqual([null, 'function_call']);
  });
});
