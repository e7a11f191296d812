import { expect, it } from 'vitest';
import type { Message } from '#contract/chat/message.ts';
import { extractLastText } from './conversation.ts';

const createTurns = (...texts: (string | null)[]): Message[] =>
  texts.flatMap((content) => [
    { role: 'assistant', content } as Message,
    { role: 'tool', tool_call_id: 'a', content: 'result' } as Message,
  ]);

it.each<[string, string, (string | null)[], string]>([
  ['if earlier turns are silent', 'Done.', [null, ''], 'Done.'],
  ['if no earlier turn exists', 'Done.', [], 'Done.'],
  ['after one turn with text', 'Let me see.\n\nDone.', ['Let me see.'], 'Done.'],
  ['after several turns, some of them silent', 'One.\n\nTwo.\n\nDone.', ['One.', null, 'Two.'], 'Done.'],
  ['after a text that ends in white space', 'One.\nDone.', ['One.\n'], 'Done.'],
  ['after a stop and one turn with text', 'Two.\n\nDone.', ['One.', 'Two.'], 'Done.'],
  ['after a stop and no further turn with text', 'Done.', ['One.', 'Two.'], 'Done.'],
  ['of a reply whose last turn is silent', 'One.', ['One.'], ''],
  ['of a reply that the client changed', 'Anything else.', ['One.'], 'Anything else.'],
  ['of a reply that only starts like an earlier turn', 'One.5 is the answer.', ['One.'], 'One.5 is the answer.'],
])('extractLastText returns the last text %s', (_description, reply, texts, expected) => {
  expect(extractLastText(reply, createTurns(...texts))).toBe(expected);
});
