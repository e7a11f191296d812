import { describe, expect, it } from 'vitest';
import { joinText, toContinuation } from './continuation.ts';
import type { Reply } from './conversation.ts';

const reply = (fields: Partial<Reply>): Reply => ({
  ...{ kind: 'reply', id: 'r', parent: 'q', atMs: 0, deployment: 'demo', state: 'done', text: '', custom: {}, stageTimes: {} },
  ...fields,
});

describe('joinText', () => {
  it.each([
    ['keeps repeated words once', 'It was the best of times', 'the best of times, it was', 'It was the best of times, it was'],
    ['completes a truncated word', 'The end of the constell', 'of the constellation.', 'The end of the constellation.'],
    ['removes dots before the repetition', 'It was the best of', '… was the best of times', 'It was the best of times'],
    ['keeps one space at the joint', 'It was the best of \n', 'was the best of times', 'It was the best of times'],
    ['adds a space before a new word', 'It was the best', 'of times', 'It was the best of times'],
    ['keeps text after or with a leading space unchanged', 'One,\n', '- two', 'One,\n- two'],
    ['adds no space in scripts without spaces', '春はあけ', 'ぼの', '春はあけぼの'],
    ['hides a repetition in progress', 'It was the best of times', 'the best ', 'It was the best of times'],
    ['accepts an empty second part', 'It was', '', 'It was'],
  ])('%s', (_, said, more, joined) => {
    expect(joinText(said, more, false)).toBe(joined);
  });

  it.each([
    [
      'the last brace of code',
      'function f() {\n  if (a) {\n    b();\n  }\n',
      '}',
      'function f() {\n  if (a) {\n    b();\n  }\n}',
    ],
    ['only repeated text', 'It was the best of times', 'the best of times', 'It was the best of times'],
  ])('hides a possible repetition of the first part: %s', (_, said, more, joined) => {
    expect(joinText(said, more, true)).toBe(joined);
  });

  it('requests the last words of the text, starting at a word', () => {
    const { prompt: ask } = toContinuation(reply({ text: `${'Lorem ipsum dolor. '.repeat(40)}The last words` }));
    const tail = String(ask.content).split('\n\n').at(-1);
    expect([ask.role, tail]).toEqual(['user', 'dolor. Lorem ipsum dolor. Lorem ipsum dolor. Lorem ipsum dolor. The last words']);
  });

  it('adds up usage per model and keeps both thoughts', () => {
    const counted = (model: string, tokens: number) => ({
      ...{ index: 0, model, name: model, prompt_tokens: tokens, completion_tokens: 1, total_tokens: tokens + 1 },
    });
    const { withTotals: total } = toContinuation(
      reply({
        thoughts: 'First.',
        usage: { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 },
        statistics: { usage_per_model: [counted('a', 5)] },
      }),
    );
    expect(
      total(
        reply({
          thoughts: 'Second.',
          usage: { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 },
          statistics: { usage_per_model: [counted('a', 6), counted('b', 3)] },
        }),
      ),
    ).toMatchObject({
      thoughts: 'First.\n\nSecond.',
      usage: { prompt_tokens: 14, completion_tokens: 3, total_tokens: 17 },
      statistics: {
        usage_per_model: [{ model: 'a', prompt_tokens: 11, completion_tokens: 2, total_tokens: 13 }, { model: 'b' }],
      },
    });
  });
});
