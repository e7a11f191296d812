import '#test/same-cases.ts';
import {
  type Arbitrary,
  array,
  assert,
  constantFrom,
  dictionary,
  jsonValue,
  oneof,
  option,
  property,
  record,
  string,
} from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ContentPart, Message } from '#contract/chat/message.ts';
import { parseMessage } from '#contract/chat/parse-message.ts';
import type { ContentBlock, MessageParam } from '#contract/messages/dialect.ts';
import { toBlocks, toConversation, toTextBlocks } from './to-turns.ts';

type Content = NonNullable<Message['content']>;

const user = (content: Content): Message => ({ role: 'user', content });
const assistant = (content: string | null, fields: object = {}): Message => ({ role: 'assistant', content, ...fields });
const text = (value: string) => ({ type: 'text', text: value });
const opening = { role: 'user', content: [text('(The conversation begins.)')] };
const missingResult = { content: 'No result was given.', is_error: true };

function call(id: unknown, args: unknown = '{}', name = 'f') {
  return { id, type: 'function', function: { name, arguments: args } };
}

function use(id: string, input: object = {}, name = 'f') {
  return { type: 'tool_use', id, name, input };
}

function result(tool_call_id: string, content: Content): Message {
  return { role: 'tool', tool_call_id, content };
}

function toolResult(tool_use_id: string, ...content: object[]) {
  return { type: 'tool_result', tool_use_id, ...(content.length > 0 && { content }) };
}

function convertTurns(...messages: Message[]): MessageParam[] {
  return toConversation(messages).messages;
}

describe('toConversation', () => {
  it('accepts any number of parts', () => {
    const many = Array.from({ length: 200_000 }, () => text('a')) as Content;
    expect(convertTurns(user('x'), user(many))[0]?.content).toHaveLength(200_001);
  });

  it('separates system and developer messages, in order, with prompt cache breakpoints', () => {
    const cache_control = { type: 'ephemeral' };
    const { system, messages } = toConversation([
      { role: 'system', content: [{ type: 'text', text: 'A', cache_control }] },
      user('x'),
      { role: 'developer', content: 'B' },
      { role: 'system', content: ' ' },
    ]);
    expect(system).toEqual([{ ...text('A'), cache_control }, text('B')]);
    expect(messages).toEqual([{ role: 'user', content: [text('x')] }]);
  });

  it('joins messages of the same role and removes empty ones', () => {
    expect(convertTurns(user('a'), user(''), user('b'), assistant('c'), assistant(''), assistant('d'), user('e'))).toEqual([
      { role: 'user', content: [text('a'), text('b')] },
      { role: 'assistant', content: [text('c'), text('d')] },
      { role: 'user', content: [text('e')] },
    ]);
  });

  it('starts with the user', () => {
    expect(convertTurns(assistant('Hi, what is it?'), user('x'))[0]).toEqual(opening);
    expect(convertTurns({ role: 'system', content: 'x' })).toEqual([opening]);
    expect(convertTurns(assistant(' '))).toEqual([opening]);
  });

  it('trims white space from the end of a last assistant message', () => {
    expect(convertTurns(user('x'), assistant('The answer is: \n'))[1]?.content).toEqual([text('The answer is:')]);
    expect(convertTurns(user('x'), assistant('a '), user('y'))[1]?.content).toEqual([text('a ')]);
  });

  it("puts all results of a turn into one message, in order, before the user's text", () => {
    const calls = assistant('Wait.', { tool_calls: [call('a', '{"x":1}'), call('b', '')] });
    expect(
      convertTurns(user('q'), calls, user('and?'), result('b', 'B'), result('a', [text('A'), text(' ')]), assistant('so')),
    ).toEqual([
      { role: 'user', content: [text('q')] },
      { role: 'assistant', content: [text('Wait.'), use('a', { x: 1 }), use('b')] },
      { role: 'user', content: [toolResult('b', text('B')), toolResult('a', text('A')), text('and?')] },
      { role: 'assistant', content: [text('so')] },
    ]);
  });

  it('preserves images in results and results without content', () => {
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } };
    const calls = assistant(null, { tool_calls: [call('a'), call('b')] });
    expect(convertTurns(user('q'), calls, result('a', [image]), result('b', ''))[2]?.content).toEqual([
      toolResult('a', { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } }),
      toolResult('b'),
    ]);
  });

  it('adds a result to calls without one, and converts results without a call to text', () => {
    expect(
      convertTurns(user('q'), assistant(null, { tool_calls: [call('a'), call('b')] }), result('b', 'B'), result('c', 'C')),
    ).toEqual([
      { role: 'user', content: [text('q')] },
      { role: 'assistant', content: [use('a'), use('b')] },
      { role: 'user', content: [toolResult('b', text('B')), { ...toolResult('a'), ...missingResult }, text('C')] },
    ]);
    expect(convertTurns(user('q'), assistant(null, { tool_calls: [call('a')] })).at(-1)).toEqual({
      role: 'user',
      content: [{ ...toolResult('a'), ...missingResult }],
    });
    expect(
      convertTurns(user('q'), assistant(null, { tool_calls: [call('a')] }), user('x'), assistant('y'), result('a', 'late')),
    ).toEqual([
      { role: 'user', content: [text('q')] },
      { role: 'assistant', content: [use('a')] },
      { role: 'user', content: [{ ...toolResult('a'), ...missingResult }, text('x')] },
      { role: 'assistant', content: [text('y')] },
      { role: 'user', content: [text('late')] },
    ]);
  });

  it('gives every call a unique ID in the characters of the dialect', () => {
    const calls = assistant(null, { tool_calls: [call('a.b/c'), call('a.b/c'), call(7), call('')] });
    const turns = convertTurns(user('q'), calls, result('a.b/c', '1'), result('a.b/c', '2'), calls);
    const ids = (content: MessageParam['content']) => (content as ContentBlock[]).map((block) => block.id ?? block.tool_use_id);
    expect(turns.slice(1).map(({ content }) => ids(content))).toEqual([
      ['000000000', '000000001', '000000002', '000000003'],
      ['000000000', '000000001', '000000002', '000000003'],
      ['000000004', '000000005', '000000006', '000000007'],
      ['000000004', '000000005', '000000006', '000000007'],
    ]);
  });

  it.each([
    ['{"a":[1]}', { a: [1] }],
    ['', {}],
    [undefined, {}],
    [null, {}],
    ['{"a":', { arguments: '{"a":' }],
    ['[1]', { arguments: '[1]' }],
    ['{"__proto__":1}', { arguments: '{"__proto__":1}' }],
    [{ a: 1 }, { a: 1 }],
    [5, { arguments: 5 }],
  ])('converts the arguments %j to %j', (args, input) => {
    const content = convertTurns(user('q'), assistant(null, { tool_calls: [call('a', args)] }))[1]?.content;
    expect(content).toEqual([use('a', input)]);
  });

  it('ignores malformed calls', () => {
    const tool_calls = [null, 3, {}, { function: 'x' }, { id: 'a', function: { arguments: '{}' } }];
    expect(convertTurns(user('q'), assistant('x', { tool_calls }))[1]?.content).toEqual([text('x')]);
  });

  it('puts thoughts, unchanged, first', () => {
    const thinking_blocks = [
      { type: 'thinking', thinking: ' hm ', signature: 's', index: 0 },
      { type: 'redacted_thinking', data: 'd' },
      { type: 'thinking', thinking: 'unsigned', signature: '' },
      { type: 'thinking', thinking: 'unsigned' },
      { type: 'other' },
      null,
    ];
    const expected = [
      { type: 'thinking', thinking: ' hm ', signature: 's' },
      { type: 'redacted_thinking', data: 'd' },
    ];
    const thought = { thinking_blocks, reasoning_content: ' hm ' };
    expect(convertTurns(user('q'), assistant('A', { ...thought, tool_calls: [call('a')] }))[1]?.content).toEqual([
      ...expected,
      text('A'),
      use('a'),
    ]);
    expect(convertTurns(user('q'), assistant(null, thought), user('x'))).toEqual([
      { role: 'user', content: [text('q'), text('x')] },
    ]);
  });
});

const texts = oneof(string({ maxLength: 6 }), constantFrom('', ' ', 'a ', '\n', 'x'));
const parts = array(
  oneof(
    record({ type: constantFrom('text'), text: texts }),
    constantFrom(
      { type: 'image_url', image_url: { url: 'https://x.org/a' } },
      { type: 'document', source: { type: 'url', url: 'u' } },
    ),
  ),
  { maxLength: 3 },
);
const ids = oneof(constantFrom('a', 'b', 'c.d', ''), string({ maxLength: 3 }));
const calls = array(
  record({ id: ids, type: constantFrom('function'), function: record({ name: constantFrom('f', 'g'), arguments: texts }) }),
  { maxLength: 3 },
);
const thoughts = array(
  constantFrom<object>(
    { type: 'thinking', thinking: 't', signature: 's' },
    { type: 'thinking', thinking: 't' },
    { type: 'redacted_thinking', data: 'd' },
  ),
  { maxLength: 2 },
);
const anyMessage: Arbitrary<unknown> = oneof(
  record({ role: constantFrom('system', 'developer'), content: texts }),
  record({ role: constantFrom('user'), content: oneof(texts, parts), extra: option(dictionary(string(), jsonValue())) }),
  record({ role: constantFrom('assistant'), content: option(texts), tool_calls: calls, thinking_blocks: thoughts }),
  record({ role: constantFrom('assistant'), content: texts }),
  record({ role: constantFrom('tool'), content: oneof(texts, parts), tool_call_id: ids }),
);

describe('an arbitrary conversation', () => {
  it('is valid in the dialect', () => {
    assert(
      property(array(anyMessage, { minLength: 1, maxLength: 12 }), (input) => {
        const messages = input.map((message, index) => parseMessage(message, `messages[${index}]`));
        const { system, messages: turns } = toConversation(messages);
        expect(system.every((block) => block.text.trim() !== '')).toBe(true);
        checkTurns(turns);
      }),
      { numRuns: 500 },
    );
  });
});

/** Fails if the Messages API would return 400. */
function checkTurns(turns: readonly MessageParam[]): void {
  const seen = new Set<unknown>();
  let waiting = new Set<unknown>();
  turns.forEach(({ role, content }, index) => {
    const blocks = content as ContentBlock[];
    expect(role).toBe(index % 2 === 0 ? 'user' : 'assistant');
    expect(blocks.length).toBeGreaterThan(0);
    for (const block of blocks) if (block.type === 'text') expect(String(block.text).trim()).not.toBe('');
    const results = blocks.filter(({ type }) => type === 'tool_result').map((block) => block.tool_use_id);
    expect(new Set(results)).toEqual(waiting);
    expect(results).toHaveLength(waiting.size);
    expect(blocks.slice(0, results.length).every(({ type }) => type === 'tool_result')).toBe(true);
    const uses = blocks.filter(({ type }) => type === 'tool_use').map(({ id }) => id);
    for (const id of uses) {
      expect(id).toMatch(/^[a-zA-Z0-9_-]+$/);
      expect(seen.has(id)).toBe(false);
      seen.add(id);
    }
    waiting = new Set(uses);
  });
  expect(waiting.size).toBe(0);
  const last = turns.at(-1);
  if (last?.role === 'assistant') expect(String((last.content as ContentBlock[]).at(-1)?.text)).toMatch(/\S$/);
}

function toBlock(part: ContentPart) {
  return toBlocks([part], 'messages[0].content')[0];
}

const image = (url: string) => toBlock({ type: 'image_url', image_url: { url, detail: 'high' } });
const file = (fields: object) => toBlock({ type: 'file', file: fields });

describe('toBlocks', () => {
  it.each([
    ['Hi', [{ type: 'text', text: 'Hi' }]],
    ['', []],
    [' \n\t', []],
    [null, []],
    [undefined, []],
    [[], []],
  ])('converts the content %j to %j', (content, expected) => {
    expect(toBlocks(content, '')).toEqual(expected);
  });

  it('drops text parts that contain only white space, and preserves cache_control', () => {
    const cache_control = { type: 'ephemeral', ttl: '1h' };
    expect(
      toBlocks([{ type: 'text', text: ' ' }, { type: 'text', text: 'a', cache_control, annotations: [] }, { type: 'text' }], ''),
    ).toEqual([{ type: 'text', text: 'a', cache_control }]);
    expect(toBlock({ type: 'image_url', image_url: { url: 'https://x.org/a' }, cache_control })).toMatchObject({ cache_control });
  });

  it.each([
    ['data:image/png;base64,aGk=', { type: 'base64', media_type: 'image/png', data: 'aGk=' }],
    ['DATA:IMAGE/JPG;charset=x;BASE64,aGk=', { type: 'base64', media_type: 'image/jpeg', data: 'aGk=' }],
    [
      'data:image/svg+xml,%3Csvg/%3E%',
      { type: 'base64', media_type: 'image/svg+xml', data: Buffer.from('<svg/>%').toString('base64') },
    ],
    ['data:,ä', { type: 'base64', media_type: 'text/plain', data: Buffer.from('ä').toString('base64') }],
    ['https://x.org/a.png', { type: 'url', url: 'https://x.org/a.png' }],
  ])('accepts the image %s', (url, source) => {
    expect(image(url)).toEqual({ type: 'image', source });
    expect(toBlock({ type: 'image_url', image_url: url })).toEqual({ type: 'image', source });
  });

  it.each([
    [
      { filename: 'a.pdf', file_data: 'data:application/pdf;base64,aGk=' },
      { type: 'base64', media_type: 'application/pdf', data: 'aGk=' },
      'a.pdf',
    ],
    [{ file_data: 'aGk=' }, { type: 'base64', media_type: 'application/pdf', data: 'aGk=' }, undefined],
    [
      { filename: 'a.txt', file_data: 'data:text/csv;base64,w6Qsw7Y=' },
      { type: 'text', media_type: 'text/plain', data: 'ä,ö' },
      'a.txt',
    ],
    [{ file_data: 'https://x.org/a.pdf' }, { type: 'url', url: 'https://x.org/a.pdf' }, undefined],
    [{ file_id: 'file_1' }, { type: 'file', file_id: 'file_1' }, undefined],
  ])('accepts the file %j', (fields, source, title) => {
    expect(file(fields)).toEqual({ type: 'document', source, ...(title && { title }) });
  });

  it('converts a file with an image type to an image', () => {
    expect(file({ file_data: 'data:image/png;base64,aGk=' })).toMatchObject({
      type: 'image',
      source: { media_type: 'image/png' },
    });
  });

  it('returns blocks of the Messages API unchanged and converts a refusal to text', () => {
    const document = {
      type: 'document',
      source: { type: 'text', media_type: 'text/plain', data: 'x' },
      citations: { enabled: true },
    };
    expect(toBlock(document)).toBe(document);
    expect(toBlock({ type: 'refusal', refusal: 'No.' })).toEqual({ type: 'text', text: 'No.' });
  });

  it.each([
    [{ type: 'input_audio', input_audio: { data: 'x', format: 'wav' } }, 'a part of the type input_audio'],
    [{ type: 'tool_result', tool_use_id: 'x' }, 'a part of the type tool_result'],
    [{ type: 'image_url' }, 'an image without a URL'],
    [{ type: 'image_url', image_url: { url: 'data:image/png' } }, 'a data: URL without data'],
    [{ type: 'file' }, 'a file without data'],
  ])('rejects %j', (part, description) => {
    expect(() => toBlocks([{ type: 'text', text: 'x' }, part], 'messages[3].content')).toThrow(
      expect.objectContaining({
        name: 'UpstreamError',
        status: 400,
        param: 'messages[3].content[1]',
        message: `The upstream of this model does not accept ${description}.`,
      }),
    );
  });

  it('rejects content other than text in a system message', () => {
    expect(toTextBlocks('Be brief.', '')).toEqual([{ type: 'text', text: 'Be brief.' }]);
    expect(() => toTextBlocks([{ type: 'image_url', image_url: 'https://x.org/a' }], 'messages[0].content')).toThrow(
      /system message/,
    );
  });
});
