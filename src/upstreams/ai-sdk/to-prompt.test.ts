import type { LanguageModelV4Message } from '@ai-sdk/provider';
import { type Arbitrary, array, assert, constantFrom, jsonValue, oneof, option, property, record, string } from 'fast-check';
import '#test/same-cases.ts';
import { describe, expect, it } from 'vitest';
import type { Message } from '#contract/chat/message.ts';
import { parseMessage } from '#contract/chat/parse-message.ts';
import { toPrompt } from './to-prompt.ts';
import { type VendorName, vendors } from './vendors.ts';

type Content = NonNullable<Message['content']>;

const user = (content: Content): Message => ({ role: 'user', content });
const text = (said: string) => ({ type: 'text', text: said });
const opening = { role: 'user', content: [text('(The conversation begins.)')] };
const png = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } };
const called = (toolCallId: string, toolName = 'f', input: object = {}) => ({ type: 'tool-call', toolCallId, toolName, input });
const answered = (toolCallId: string, value: string, toolName = 'f', type = 'text') => ({
  type: 'tool-result',
  toolCallId,
  toolName,
  output: { type, value },
});

function asking(...calls: [id: string, name?: string, args?: unknown][]): Message {
  const tool_calls = calls.map(([id, name = 'f', args = '{}']) => ({
    id,
    type: 'function',
    function: { name, arguments: args },
  }));
  return { role: 'assistant', content: null, tool_calls };
}

const result = (tool_call_id: string, content: Content): Message => ({ role: 'tool', tool_call_id, content });

function promptOf(messages: Message[], vendor: VendorName = 'gemini', mayCall = true): LanguageModelV4Message[] {
  return toPrompt(messages, vendors[vendor], mayCall);
}

describe('toPrompt', () => {
  it('takes any number of parts', () => {
    const many = Array.from({ length: 200_000 }, () => text('a')) as Content;
    expect(promptOf([user('x'), user(many)])[0]?.content).toHaveLength(200_001);
  });

  it('puts the words of system and developer first, and joins what one side says', () => {
    const prompt = promptOf([
      user('a'),
      { role: 'system', content: 'S' },
      user('b'),
      { role: 'assistant', content: 'c' },
      { role: 'assistant', content: 'd' },
      { role: 'developer', content: [text('D')] },
    ]);
    expect(prompt).toEqual([
      { role: 'system', content: 'S' },
      { role: 'system', content: 'D' },
      { role: 'user', content: [text('a'), text('b')] },
      { role: 'assistant', content: [text('c'), text('d')] },
    ]);
  });

  it('leaves blank words out, and lets the user begin', () => {
    expect(promptOf([user(' '), { role: 'assistant', content: '\n' }, { role: 'system', content: '' }])).toEqual([opening]);
    expect(promptOf([{ role: 'assistant', content: 'Hi.' }])).toEqual([opening, { role: 'assistant', content: [text('Hi.')] }]);
  });

  it('gives results the names of their calls, in one turn, in the order they came', () => {
    const prompt = promptOf([user('x'), asking(['1', 'one', '{"a":1}'], ['2', 'two']), result('2', 'B'), result('1', 'A')]);
    expect(prompt.slice(1)).toEqual([
      { role: 'assistant', content: [called('1', 'one', { a: 1 }), called('2', 'two')] },
      { role: 'tool', content: [answered('2', 'B', 'two'), answered('1', 'A', 'one')] },
    ]);
  });

  it('tells the model of results that are missing, and of those that nobody asked for', () => {
    const prompt = promptOf([user('x'), asking(['1']), user('never mind'), result('7', 'late')]);
    expect(prompt.slice(2)).toEqual([
      { role: 'tool', content: [answered('1', 'No result was given.', 'f', 'error-text')] },
      { role: 'user', content: [text('never mind'), text('late')] },
    ]);
  });

  it('keeps the ids of two turns apart, and in the form of the vendor', () => {
    const twice = [user('x'), asking(['call_1']), result('call_1', 'A'), asking(['call_1']), result('call_1', 'B')];
    const idsOf = (vendor: VendorName): unknown[] =>
      promptOf(twice, vendor).flatMap(({ content }) =>
        typeof content === 'string' ? [] : content.flatMap((part) => ('toolCallId' in part ? [part.toolCallId] : [])),
      );
    expect(idsOf('bedrock')).toEqual(['call_1', 'call_1', '000000000', '000000000']);
    expect(idsOf('mistral')).toEqual(['000000000', '000000000', '000000001', '000000001']);
  });

  it('tells calls and results as text where no tool is offered and the vendor then wants none', () => {
    const messages = [user('x'), asking(['1', 'get', '{"a":1}']), result('1', 'A')];
    expect(promptOf(messages, 'bedrock', false)).toEqual([
      { role: 'user', content: [text('x')] },
      { role: 'assistant', content: [text('I called get with {"a":1}.')] },
      { role: 'user', content: [text('get gave this result:'), text('A')] },
    ]);
    expect(promptOf(messages, 'gemini', false)).toEqual(promptOf(messages, 'gemini', true));
  });

  it('keeps arguments that are no object, and results that are nothing', () => {
    const prompt = promptOf([user('x'), asking(['1', 'f', '[1]'], ['2', 'f', ''], ['3', 'f', 'oops']), result('1', '')]);
    expect(prompt[1]?.content).toMatchObject([{ input: { arguments: '[1]' } }, { input: {} }, { input: { arguments: 'oops' } }]);
    expect(prompt[2]?.content[0]).toMatchObject({ output: { type: 'text', value: '(The tool gave no output.)' } });
  });

  it('sends files of tools where they can be sent, and never an address to be fetched', () => {
    const url = 'https://example.org/a.png';
    const outputOf = (vendor: VendorName, content: Content): unknown => {
      const turn = promptOf([user('x'), asking(['1']), result('1', content)], vendor)[2];
      return turn?.role === 'tool' && turn.content[0]?.type === 'tool-result' ? turn.content[0].output : undefined;
    };
    const file = { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'iVBORw0KGgo=' } };
    expect(outputOf('bedrock', [text('See:'), png])).toEqual({ type: 'content', value: [text('See:'), file] });
    expect(outputOf('mistral', [text('See:'), png])).toEqual({
      type: 'text',
      value: 'See:\n\n(A file of the type image/png that cannot be shown here.)',
    });
    expect(outputOf('vertex', [{ type: 'image_url', image_url: { url } }])).toEqual({
      type: 'text',
      value: `(A file of the type image/png at ${url}.)`,
    });
  });
});

const ids = constantFrom('a', 'b', 'call_1', 'abcDEF123', '__proto__', 'x y', '');
const words = oneof(string({ maxLength: 4 }), constantFrom(' ', 'yes'));
const parts = array(oneof(record({ type: constantFrom('text'), text: words }), constantFrom(png)), {
  minLength: 1,
  maxLength: 3,
});
const calls = array(
  record({
    id: ids,
    type: constantFrom('function'),
    function: record({ name: constantFrom('f', 'g'), arguments: oneof(constantFrom('{}', '{"a":1}', 'x'), jsonValue()) }),
  }),
  { maxLength: 3 },
);
const anyMessage: Arbitrary<unknown> = oneof(
  record({ role: constantFrom('system', 'developer'), content: words }),
  record({ role: constantFrom('user'), content: oneof(words, parts) }),
  record({ role: constantFrom('assistant'), content: option(words), tool_calls: calls }),
  record({ role: constantFrom('tool'), content: oneof(words, parts), tool_call_id: ids }),
);

describe('any conversation', () => {
  it.each(['gemini', 'bedrock', 'mistral'] as const)('comes out as %s wants it', (vendor) => {
    assert(
      property(array(anyMessage, { minLength: 1, maxLength: 12 }), (given) => {
        const messages = given.map((message, index) => parseMessage(message, `messages[${index}]`));
        checkPrompt(promptOf(messages, vendor), vendors[vendor].callId);
      }),
      { numRuns: 300 },
    );
  });
});

/** Fails if a vendor would answer 400: every call has its one result in the turn behind it, and nothing is empty. */
function checkPrompt(prompt: readonly LanguageModelV4Message[], form: RegExp): void {
  const seen = new Set<string>();
  let waiting: string[] = [];
  const turns = prompt.filter(({ role }) => role !== 'system');
  expect(prompt.slice(0, prompt.length - turns.length).every(({ role }) => role === 'system')).toBe(true);
  expect(turns[0]?.role).toBe('user');
  for (const { role, content } of turns) {
    expect(content.length).toBeGreaterThan(0);
    const results = role === 'tool' ? content.map((part) => ('toolCallId' in part ? part.toolCallId : '')) : [];
    expect(results.toSorted()).toEqual(waiting.toSorted());
    waiting = [];
    if (role !== 'assistant') continue;
    for (const part of content) {
      if (part.type !== 'tool-call') continue;
      expect(part.toolCallId).toMatch(form);
      expect(seen.has(part.toolCallId)).toBe(false);
      seen.add(part.toolCallId);
      waiting.push(part.toolCallId);
    }
  }
  expect(waiting).toEqual([]);
}
