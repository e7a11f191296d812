import { describe, expect, it } from 'vitest';
import type { Chunk, Completion } from './chunk.ts';
import { toWellFormedChunk, toWellFormedCompletion } from './well-formed.ts';

const own = { id: 'own', created: 7, model: 'm' };
const head = { id: 'r', object: 'chat.completion.chunk', created: 1 };
const parts = [
  { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] },
  { type: 'text', text: 'a' },
  null,
  { type: 'text', text: 'b' },
];

function chunk(value: object): Chunk {
  return toWellFormedChunk(value as Chunk, own);
}

describe('toWellFormedChunk', () => {
  it('returns the same object if no field is missing', () => {
    const choices = [{ index: 0, delta: { content: 'a' }, finish_reason: null }];
    const whole = { ...head, model: 'up', choices, odd: 1 } as unknown as Chunk;
    expect(toWellFormedChunk(whole, own)).toBe(whole);
  });

  it('adds missing fields', () => {
    expect(chunk({ choices: [{}, { index: 'x', delta: { role: 'user' } }] })).toEqual({
      ...{ id: 'own', object: 'chat.completion.chunk', created: 7, model: 'm' },
      choices: [
        { index: 0, delta: {}, finish_reason: null },
        { index: 1, delta: { role: 'assistant' }, finish_reason: null },
      ],
    });
  });

  it('joins text parts to one text and moves thoughts to another field', () => {
    const { choices } = chunk({ ...head, choices: [{ index: 0, delta: { content: parts }, finish_reason: null }] });
    expect(choices[0]?.delta).toEqual({ content: 'ab', reasoning_content: 'hm' });
  });
});

describe('toWellFormedCompletion', () => {
  it.each([
    [{ content: null }, { content: '' }],
    [
      { content: null, refusal: 'No.' },
      { content: '', refusal: 'No.' },
    ],
    [
      { content: null, tool_calls: [{ id: 'c' }] },
      { content: null, tool_calls: [{ id: 'c' }] },
    ],
    [{ function_call: { name: 'f' } }, { function_call: { name: 'f' } }],
  ])('adds an empty content unless the message has calls: %j', (said, told) => {
    const message = { role: 'assistant', ...said };
    const completion = { ...head, object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'stop' }] };
    expect(toWellFormedCompletion(completion as unknown as Completion, own).choices[0]?.message).toEqual({
      role: 'assistant',
      ...told,
    });
  });

  it('adds missing fields and joins text parts', () => {
    const completion = { choices: [{ message: { content: parts } }, {}] } as unknown as Completion;
    expect(toWellFormedCompletion(completion, own)).toEqual({
      ...{ id: 'own', object: 'chat.completion', created: 7, model: 'm' },
      choices: [
        { index: 0, message: { role: 'assistant', content: 'ab', reasoning_content: 'hm' }, finish_reason: 'stop' },
        { index: 1, message: { role: 'assistant', content: '' }, finish_reason: 'stop' },
      ],
    });
  });
});

describe('toWellFormedCompletion with indexed lists in custom content', () => {
  const replyWith = (custom_content: object) => {
    const message = { role: 'assistant', content: 'a', custom_content };
    return { ...head, object: 'chat.completion', model: 'up', choices: [{ index: 0, message, finish_reason: 'stop' }] };
  };

  it('keeps the indexes and returns the same object', () => {
    const completion = replyWith({ stages: [{ index: 4, name: 'Looks' }] }) as unknown as Completion;
    expect(toWellFormedCompletion(completion, own)).toBe(completion);
  });
});
