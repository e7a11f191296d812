import { expect, it } from 'vitest';
import { listVisibleTurns } from '../conversation/conversation.ts';
import { toConversation } from './answer-view.tsx';
import { toReply } from './fold-answer.ts';

const answer = {
  ...{ id: 'resp_1', model: 'm', created_at: 5, error: null, incomplete_details: null, status: 'completed' as const },
  output: [{ type: 'message', content: [{ type: 'output_text', text: 'It is wide.' }] }],
};
const createMessage = (role: string, text: string) => ({ type: 'message', role, content: [{ type: 'input_text', text }] });

it.each([
  ['a question', [createMessage('user', 'One?')], ['question One?', 'reply It is wide.']],
  [
    'a system message, several turns, and consecutive messages of the same role',
    [
      createMessage('system', 'Be short.'),
      createMessage('user', 'One?'),
      createMessage('user', 'Or two?'),
      createMessage('assistant', 'One.'),
      createMessage('user', 'Why?'),
    ],
    ['question One?\n\nOr two?', 'reply One.', 'question Why?', 'reply It is wide.'],
  ],
  [
    'an answer before any question',
    [createMessage('assistant', 'Hi.'), createMessage('user', 'One?')],
    ['question One?', 'reply It is wide.'],
  ],
  [
    'an answer as the last item',
    [createMessage('user', 'One?'), createMessage('assistant', 'One.')],
    ['question One?', 'reply One.', 'question …', 'reply It is wide.'],
  ],
  ['an answer without a question', [createMessage('assistant', 'Hi.')], ['question …', 'reply It is wide.']],
  ['empty input', [], ['question …', 'reply It is wide.']],
])('continues in a chat from %s', (_title, input, expected) => {
  const conversation = toConversation({ answer, reply: toReply(answer), input });
  const turns = listVisibleTurns(conversation);
  expect(turns.map(({ kind, text }) => `${kind} ${text}`)).toEqual(expected);
  expect(new Set(turns.map(({ atMs }) => atMs)).size).toBe(turns.length);
  expect(conversation.title).toBe(turns[0]?.text.replace(/\s+/g, ' '));
});
