import { expect, it } from 'vitest';
import { toContentAttributes } from './to-content-attributes.ts';

it('toContentAttributes accepts values that cannot become text', () => {
  const odd = { toString: 1 };
  const message = { role: odd, content: [{ type: 'text', text: odd }, { type: odd }] };
  const attributes = toContentAttributes({
    request: { messages: [message] },
    reply: { choices: [{ message, finish_reason: odd }] },
    isTruncated: false,
  });
  const parts = [{ type: 'text', content: odd }, { type: 'unknown' }];
  expect(JSON.parse(String(attributes['gen_ai.input.messages']))).toEqual([{ role: 'assistant', parts }]);
  expect(JSON.parse(String(attributes['gen_ai.output.messages']))).toEqual([{ role: 'assistant', parts, finish_reason: odd }]);
});
