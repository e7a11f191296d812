import { describe, expect, it } from 'vitest';
import type { Chunk } from '#contract/chat/chunk.ts';
import { Frame, type RawFrame } from '#contract/chat/frame.ts';
import { NormalizedCalls } from './normalized-calls.ts';
import { sendWithTools } from './protocol-adapters.ts';

const createFrame = (delta: unknown, finish_reason: unknown = null): RawFrame =>
  Frame.ofRawChunks({ choices: [{ index: 0, delta, finish_reason }] } as never);

function collect(frames: readonly RawFrame[], usesFunctions = false, newId = () => 'new-id'): Chunk[] {
  const chunks: Chunk[] = [];
  const reply = {
    push: (frame: RawFrame) => void chunks.push(...(frame.chunks as readonly Chunk[])),
    end() {},
    fail(error: unknown) {
      throw error;
    },
  };
  let sink = new NormalizedCalls({ newId, messages: [] }, reply) as { push(frame: RawFrame): void };
  const request = { messages: [{ role: 'user' as const, content: 'Hello' }], functions: [{ name: 'f' }] };
  if (usesFunctions)
    sendWithTools(request, { reply, newId }, (_request, inner) => {
      sink = inner;
      return { pause() {}, resume() {}, cancel() {} };
    });
  for (const frame of frames) sink.push(frame);
  return chunks;
}

const createCall = (name: string, fields: object = {}) => ({ ...fields, type: 'function', function: { name, arguments: '{}' } });
const listDeltas = (chunks: readonly Chunk[]) => chunks.map(({ choices }) => choices[0]?.delta);

describe('NormalizedCalls', () => {
  it.each([5, 'x', {}, [null], [5, createCall('f', { index: 0, id: 'a' })], [{ index: 0, function: 5 }]])(
    'drops the malformed parts of %j',
    (tool_calls) => {
      const first = createCall('g', { index: 1, id: 'b' });
      const calls = listDeltas(
        collect([createFrame({ tool_calls: [first] }), createFrame({ tool_calls, function_call: 5 })]),
      ).flatMap((delta) => {
        expect(delta).not.toHaveProperty('function_call');
        return delta?.tool_calls ?? [];
      });
      for (const { index, function: calledFunction } of calls)
        expect([Number.isInteger(index), typeof calledFunction?.arguments]).toEqual([true, 'string']);
    },
  );

  it.each<[string, (nth: number) => object]>([
    ['arguments', (nth) => ({ index: nth, function: { arguments: 'x'.repeat(400_000) } })],
    ['fields', (nth) => ({ index: 0, [`field${nth}`]: 'x'.repeat(400_000) })],
  ])('rejects a reply with too many %s of calls without a name', (_what, createPart) => {
    const frames = [0, 1, 2].map((nth) => createFrame({ tool_calls: [createPart(nth)] }));
    expect(() => collect(frames.slice(0, 2))).not.toThrow();
    expect(() => collect(frames)).toThrow('more than 1048576 characters of calls before their names');
  });

  it('adds the fields that arrived before the name to the first part of a call', () => {
    const parts = [
      JSON.parse('{"index":0,"__proto__":{"a":1},"extra":1}'),
      { index: 0, other: 2, function: { arguments: '{"b"' } },
      { index: 0, id: 'a', function: { name: 'f', arguments: ':1}' } },
    ];
    const deltas = listDeltas(collect(parts.map((part) => createFrame({ tool_calls: [part] }))));
    const call = deltas.flatMap((delta) => delta?.tool_calls ?? []);
    expect(JSON.parse(JSON.stringify(call))).toEqual([
      JSON.parse(
        '{"__proto__":{"a":1},"extra":1,"other":2,"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{\\"b\\":1}"}}',
      ),
    ]);
  });

  it.each([{ id: 'a' }, {}])(
    'joins the arguments of parts that repeat the name, also if a part starts with a brace: %j',
    (fields) => {
      const parts = ['{"a":', '{"b":1}', '}'].map((args) => ({ ...fields, index: 0, function: { name: 'f', arguments: args } }));
      const deltas = listDeltas(collect(parts.map((part) => createFrame({ tool_calls: [part] }))));
      const calls = deltas.flatMap((delta) => delta?.tool_calls ?? []);
      expect(calls.map(({ index, function: { name, arguments: args } = {} }) => [index, name, args])).toEqual([
        [0, 'f', '{"a":'],
        [0, undefined, '{"b":1}'],
        [0, undefined, '}'],
      ]);
    },
  );

  it('creates different IDs in each reply', () => {
    let idCount = 0;
    const newId = () => `${++idCount}`.repeat(30);
    const ids = [1, 2]
      .flatMap(() => listDeltas(collect([createFrame({ tool_calls: [createCall('f'), createCall('g')] })], false, newId)))
      .flatMap((delta) => delta?.tool_calls?.map(({ id }) => id ?? '') ?? []);
    expect(new Set(ids).size).toBe(4);
    expect(ids.every((id) => /^[\w-]{1,40}$/.test(id))).toBe(true);
  });
});

describe('the reply to a request with functions', () => {
  it('has only the first of two calls that share an index and have no IDs', () => {
    const chunks = collect(
      [
        createFrame({ tool_calls: [createCall('weather', { index: 0 })] }),
        createFrame({ tool_calls: [createCall('time', { index: 0 })] }),
      ],
      true,
    );
    expect(listDeltas(chunks)).toMatchObject([{ function_call: { name: 'weather', arguments: '{}' } }, {}]);
    expect(listDeltas(chunks)[1]).not.toHaveProperty('function_call');
  });

  it('has only the first complete call if calls have no indexes', () => {
    expect(
      listDeltas(collect([createFrame({ tool_calls: [createCall('f', { id: 'a' }), createCall('g', { id: 'b' })] })], true)),
    ).toEqual([{ function_call: { name: 'f', arguments: '{}' } }]);
  });

  it('ends with function_call if the upstream reports stop after a call', () => {
    const chunks = collect([createFrame({ tool_calls: [createCall('f', { index: 0 })] }), createFrame({}, 'stop')], true);
    expect(chunks.map(({ choices }) => choices[0]?.finish_reason)).toEqual([null, 'function_call']);
  });
});
