import { describe, expect, it } from 'vitest';
import type { Delta } from '#contract/chat/chunk.ts';
import { delta } from '#test/chunks.ts';
import { Turn } from './turn.ts';

const long = 'x'.repeat(1_000_000);

describe('Turn', () => {
  it.each<readonly [string, (index: number) => Delta]>([
    ['text', () => ({ content: long })],
    ['thoughts', () => ({ reasoning_content: long })],
    ['thoughts in fields with different names', (index) => ({ [`reasoning${index}${long}`]: '' })],
    ['blocks of thoughts', () => ({ thinking_blocks: [{ type: 'thinking', thinking: long }] })],
    ['the name of a tool', () => ({ tool_calls: [{ index: 0, function: { name: long } }] })],
    ['further fields of a call', (index) => ({ tool_calls: [{ index: 0, [`extra${index}`]: long }] })],
  ])('bounds the %s of a reply', (_description, createDelta) => {
    const turn = new Turn();
    for (let index = 0; index < 15; index += 1) turn.addChunk(delta(createDelta(index)));
    expect(() => {
      turn.addChunk(delta(createDelta(15)));
      turn.addChunk(delta(createDelta(16)));
    }).toThrow('The model returned more than 16000000 characters in one reply.');
  });

  it('ignores calls beyond the first 128', () => {
    const turn = new Turn();
    const call = (index: number) => ({ index, id: `c${index}`, function: { name: 'f', arguments: '{}' } });
    for (let index = 0; index < 200; index += 1) turn.addChunk(delta({ tool_calls: [call(index)] }));
    expect(turn.calls.map(({ id }) => id)).toEqual(Array.from({ length: 128 }, (_, index) => `c${index}`));
  });

  it('returns blocks of thoughts in order and does not change the chunks', () => {
    const blocks = ['a', 'b', 'c'].map((thinking) => ({ type: 'thinking', thinking }));
    const first = { thinking_blocks: blocks.slice(0, 1) };
    const turn = new Turn();
    for (const createDelta of [first, { thinking_blocks: blocks.slice(1) }]) turn.addChunk(delta(createDelta));
    expect(turn.toMessage()).toMatchObject({ thinking_blocks: blocks });
    expect(first.thinking_blocks).toHaveLength(1);
  });
});
