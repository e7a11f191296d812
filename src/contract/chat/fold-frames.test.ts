import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { delta, finish, text } from '#test/chunks.ts';
import { measureEventLoopBlock } from '#test/event-loop-block.ts';
import { type Chunk, type Completion, type Delta, toChunk } from './chunk.ts';
import { Accumulator, foldFrames } from './fold-frames.ts';
import { Frame } from './frame.ts';
import '#test/same-cases.ts';
import vectors from '../../../test/vectors/fold.json' with { type: 'json' };
import { ParleyError } from '../errors/errors.ts';

const tooLarge = 'Too much.';

const replacedFields = new Set(['role', 'type', 'status', 'state']);

describe('foldFrames', () => {
  it('returns the complete reply and awaits the callback for each chunk', async () => {
    const heard: string[] = [];
    async function* reply(): AsyncIterable<Frame> {
      yield Frame.ofChunks(delta({ role: 'assistant', content: '' }), text('Hel'));
      heard.push('next');
      yield Frame.ofChunks(text('lo'), finish());
    }
    const onChunk = async ({ choices }: Chunk): Promise<void> => {
      await Promise.resolve();
      heard.push(choices[0]?.delta.content ?? 'end');
    };
    const { choices } = await foldFrames(reply(), { maxBytes: 10_000, message: tooLarge }, onChunk);
    expect(choices).toEqual([{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }]);
    expect(heard).toEqual(['', 'Hel', 'next', 'lo', 'end']);
  });

  it('stops the source and throws if the reply exceeds the bound', async () => {
    const frame = Frame.ofChunks(text('Hello'));
    let hasStopped = false;
    async function* endless(): AsyncIterable<Frame> {
      try {
        for (;;) yield frame;
      } finally {
        hasStopped = true;
      }
    }
    const error = { code: 'upstream_failed', message: tooLarge };
    await expect(foldFrames(endless(), { maxBytes: 3 * frame.bytes.length, message: tooLarge })).rejects.toMatchObject(error);
    expect(hasStopped).toBe(true);
  });
});

function fold(chunks: readonly object[]): Completion {
  const accumulator = new Accumulator();
  for (const chunk of chunks) {
    accumulator.add({ id: 'r', object: 'chat.completion.chunk', created: 1, choices: [], ...chunk } as Chunk);
  }
  return accumulator.getCompletion();
}

function foldDeltas(...deltas: object[]): object | undefined {
  return fold(deltas.map((delta) => ({ choices: [{ index: 0, delta, finish_reason: null }] }))).choices[0]?.message;
}

describe('Accumulator', () => {
  const cases = vectors.map(({ name, chunks, completion }) => ({ name, chunks, completion }));

  test.each(cases)('folds this case: $name', ({ chunks, completion }) => {
    const before = JSON.stringify(chunks);
    const identity = chunks.length === 0 ? { id: '', created: 0 } : { id: 'r', created: 1 };
    expect(fold(chunks)).toStrictEqual({ ...identity, object: 'chat.completion', ...completion });
    expect(JSON.stringify(chunks)).toBe(before);
  });

  test('returns an intermediate result', () => {
    const accumulator = new Accumulator();
    const chunk = (content: string): Chunk => ({
      id: 'r',
      object: 'chat.completion.chunk',
      created: 1,
      choices: [{ index: 0, delta: { content }, finish_reason: null }],
    });
    accumulator.add(chunk('a'));
    expect(accumulator.getCompletion().choices[0]?.message.content).toBe('a');
    accumulator.add(chunk('b'));
    expect(accumulator.getCompletion().choices[0]?.message.content).toBe('ab');
  });

  test('folds a hundred thousand chunks without blocking for long', async () => {
    const accumulator = new Accumulator();
    const chunk = {
      id: 'r',
      object: 'chat.completion.chunk',
      created: 1,
      choices: [{ index: 0, delta: { content: 'word ' }, finish_reason: null }],
    };
    const blockedMs = await measureEventLoopBlock(() => {
      for (let count = 0; count < 100_000; count += 1) accumulator.add(chunk as Chunk);
    });
    expect(accumulator.getCompletion().choices[0]?.message.content).toHaveLength(500_000);
    expect(blockedMs).toBeLessThan(2000);
  });
});

describe('Accumulator with a hostile reply', () => {
  test.each([-1, 1.5, 100_001, Number.MAX_SAFE_INTEGER, Number.POSITIVE_INFINITY])('rejects the index %d', (index) => {
    const refusal = expect.objectContaining({
      code: 'upstream_failed',
      message: `The answer has an item with the index ${index}.`,
    });
    expect(() => fold([{ choices: [{ index, delta: {}, finish_reason: null }] }])).toThrow(refusal);
    expect(() => foldDeltas({ tool_calls: [{ index }] })).toThrow(refusal);
    expect(() => foldDeltas({ custom_content: { stages: [{ index: 0, attachments: [{ index }] }] } })).toThrow(refusal);
  });

  test('rejects an index that cannot be converted to text', () => {
    const index = { toString: 1, toJSON: 1 } as unknown as number;
    expect(() => fold([{ choices: [{ index, delta: {}, finish_reason: null }] }])).toThrow(
      expect.objectContaining({ code: 'upstream_failed', message: 'The answer has an item with the index object.' }),
    );
  });

  test('accepts the largest index without allocating a list of this size', () => {
    expect(foldDeltas({ tool_calls: [{ index: 100_000, id: 'c' }] })).toMatchObject({ tool_calls: [{ id: 'c' }] });
  });

  test('rejects more than a million items', () => {
    const delta = { notes: Array(600_000).fill(1) };
    expect(foldDeltas(delta)).toBeDefined();
    expect(() => foldDeltas(delta, delta)).toThrow(ParleyError);
  });

  test('does not modify the prototype of objects', () => {
    const hostile = JSON.parse(
      '{"__proto__": {"polluted": 1}, "constructor": {"prototype": {"polluted": 1}}, "content": "a"}',
    ) as Delta;
    const message = foldDeltas(hostile, hostile);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect(Object.keys(message ?? {})).toEqual(['role', 'content', 'constructor']);
    expect(Object.getPrototypeOf(message)).toBe(Object.prototype);
  });

  test('ignores a message that is not in a delta', () => {
    expect(fold([{ choices: [{ index: 0, message: 'x', finish_reason: null }] }]).choices[0]?.message).toEqual({
      role: 'assistant',
      content: '',
    });
  });
});

describe('Accumulator with the chunks of a completion', () => {
  const text = fc.string({ minLength: 1, maxLength: 20 });
  const attachments = fc
    .array(fc.record({ type: fc.constant('text/plain'), title: text, data: text }), { maxLength: 3 })
    .map(numbered);
  const stages = fc.array(fc.record({ name: text, content: text, attachments, status: fc.constantFrom('completed', 'failed') }), {
    maxLength: 3,
  });
  const custom = fc.record(
    { attachments, stages: stages.map(numbered), state: fc.dictionary(text, fc.jsonValue()) },
    { requiredKeys: [] },
  );
  const message = fc.record({ content: text, custom_content: custom, reasoning_content: text }, { requiredKeys: ['content'] });
  const completion = fc.array(fc.record({ message, finish_reason: fc.constantFrom('stop', 'length') }), {
    minLength: 1,
    maxLength: 3,
  });
  const rolls = fc.infiniteStream(fc.nat(99));

  test('restores the completion regardless of the split positions', () => {
    fc.assert(
      fc.property(completion, rolls, (choices, stream) => {
        const whole = toCompletion(choices);
        expect(fold(pieces(toChunk(whole) as unknown as Chunk, () => stream.next().value))).toEqual(whole);
      }),
    );
  });

  test('restores the completion from a single chunk', () => {
    fc.assert(
      fc.property(completion, (choices) => {
        expect(fold([toChunk(toCompletion(choices))])).toEqual(toCompletion(choices));
      }),
    );
  });

  function toCompletion(given: readonly { message: object; finish_reason: string }[]): Completion {
    const choices = given.map(({ message, ...rest }, index) => ({ index, message: { role: 'assistant', ...message }, ...rest }));
    return JSON.parse(JSON.stringify({ id: 'r', object: 'chat.completion', created: 1, choices })) as Completion;
  }

  /** Returns the parts of each choice in order. Parts of different choices are interleaved. */
  function pieces(chunk: Chunk, roll: () => number): object[] {
    const queues = chunk.choices.map(({ index, delta, finish_reason: reason }) => [
      ...splitObject(delta as never, roll).map((piece) => ({ index, delta: piece, finish_reason: null })),
      { index, delta: {}, finish_reason: reason },
    ]);
    const going: object[] = [];
    while (queues.some((queue) => queue.length > 0)) {
      const next = queues[roll() % queues.length]?.shift();
      if (next !== undefined) going.push({ choices: [next] });
    }
    return going;
  }
});

function numbered<Item extends object>(items: readonly Item[]): (Item & { index: number })[] {
  return items.map((item, index) => ({ index, ...item }));
}

/** Splits an object into parts: some strings in two, fields and items separately. */
function splitObject(value: Record<string, unknown>, roll: () => number): object[] {
  const { index, ...fields } = value;
  const marked = index === undefined ? {} : { index };
  const found: object[] = index === undefined ? [] : [marked];
  for (const [key, field] of Object.entries(fields)) {
    for (const piece of replacedFields.has(key) ? [field] : splitField(field, roll)) found.push({ ...marked, [key]: piece });
  }
  return found.length === 0 ? [{}] : found;
}

function splitField(field: unknown, roll: () => number): unknown[] {
  if (typeof field === 'string') {
    const middle = roll() % (field.length + 1);
    return [field.slice(0, middle), field.slice(middle)].filter((piece) => piece !== '');
  }
  if (Array.isArray(field)) return [[], ...field.flatMap((item) => splitObject(item, roll).map((piece) => [piece]))];
  return splitObject(field as Record<string, unknown>, roll);
}
