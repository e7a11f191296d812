import { describe, expect, it } from 'vitest';
import { measureEventLoopBlock } from '#test/event-loop-block.ts';
import { parseAnswer } from './parse-answer.ts';

const anyObject = { schema: undefined };

describe('parseAnswer', () => {
  it.each([['{"a":1}'], [' {"a":1}\n'], ['```json\n{"a":1}\n```'], ['```\n\n{"a":1}```'], ['```JSON  \r\n{"a":1}\n```\n']])(
    'parses the JSON in %j',
    (text) => {
      expect(parseAnswer(text, anyObject)).toEqual({ json: '{"a":1}' });
    },
  );

  it.each([['```yaml\n{"a":1}\n```'], ['```json {"a":1}```'], ['```json\n{"a":1}'], ['```']])('rejects %j', (text) => {
    expect(parseAnswer(text, anyObject)).toEqual({ error: 'it is not JSON' });
  });

  it('does not block the event loop on line breaks after a code fence', async () => {
    const text = `\`\`\`json${'\n'.repeat(150_000)}x`;
    expect(await measureEventLoopBlock(() => parseAnswer(text, anyObject))).toBeLessThan(250);
  });

  it('rejects an answer if the schema check exceeds its time limit', () => {
    const list = { type: 'array', items: { $ref: '#/$defs/a' } };
    const schema = { $defs: { a: { anyOf: [list, { ...list, minItems: 0 }] } }, properties: { a: { $ref: '#/$defs/a' } } };
    const text = `{"a":${'['.repeat(30)}1${']'.repeat(30)}}`;
    expect(parseAnswer(text, { schema })).toEqual({ error: 'the check against the schema takes too long' });
  });
});
