import { describe, expect, it } from 'vitest';
import type { Delta } from '#contract/chat/chunk.ts';
import { delta } from '#test/chunks.ts';
import { Turn } from './turn.ts';

const long = 'x'.repeat(1_000_000);

describe('Turn', () => {
  it.each<readonly [string, (nth: number) => Delta]>([
    ['text', () => ({ content: long })],
    ['thoughts', () => ({ reasoning_content: long })],
    ['thoughts under ever new names', (nth) => ({ [`reasoning${nth}${long}`]: '' })],
    ['blocks of thoughts', () => ({ thinking_blocks: [{ type: 'thinking', thinking: long }] })],
    ['the name of a tool', () => ({ tool_calls: [{ index: 0, function: { name: long } }] })],
    ['further fields of a call', (nth) => ({ tool_calls: [{ index: 0, [`extra${nth}`]: long }] })],
  ])('bounds the %s of a reply', (_what, said) => {
    const turn = new Turn();
    for (let nth = 0; nth < 15; nth += 1) turn.addChunk(delta(said(nth)));
    expect(() => {
      turn.addChunk(delta(said(15)));
      turn.addChunk(delta(said(16)));
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
    for (const fields of [first, { thinking_blocks: blocks.slice(1) }]) turn.addChunk(delta(fields));
    expect(turn.toMessage()).toMatchObject({ thinking_blocks: blocks });
    expect(first.thinking_blocks).toHaveLength(1);
  });
});
