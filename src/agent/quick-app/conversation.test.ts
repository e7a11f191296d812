import { expect, it } from 'vitest';
import type { Message } from '#contract/chat/message.ts';
import { extractLastText } from './conversation.ts';

const said = (...texts: (string | null)[]): Message[] =>
  texts.flatMap((content) => [
    { role: 'assistant', content } as Message,
    { role: 'tool', tool_call_id: 'a', content: 'result' } as Message,
  ]);

it.each<[string, string, (string | null)[], string]>([
  ['without earlier text', 'Done.', [null, ''], 'Done.'],
  ['without earlier turns', 'Done.', [], 'Done.'],
  ['after one turn that spoke', 'Let me see.\n\nDone.', ['Let me see.'], 'Done.'],
  ['after several, some of them silent', 'One.\n\nTwo.\n\nDone.', ['One.', null, 'Two.'], 'Done.'],
  ['after a text that ends in white space', 'One.\nDone.', ['One.\n'], 'Done.'],
  ['after a stop, since which only the last turn spoke', 'Two.\n\nDone.', ['One.', 'Two.'], 'Done.'],
  ['after a stop, since which no turn spoke before it', 'Done.', ['One.', 'Two.'], 'Done.'],
  ['of a reply that ended without one', 'One.', ['One.'], ''],
  ['of a reply that its caller changed', 'Anything else.', ['One.'], 'Anything else.'],
  ['of a reply that only begins like an earlier turn', 'One.5 is the answer.', ['One.'], 'One.5 is the answer.'],
])('the last text %s', (_what, reply, texts, expected) => {
  expect(extractLastText(reply, said(...texts))).toBe(expected);
});
