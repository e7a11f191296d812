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
const text = (value: string) => ({ type: 'text', text: value });
const opening = { role: 'user', content: [text('(The conversation begins.)')] };
const png = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } };
const toolCall = (toolCallId: string, toolName = 'f', input: object = {}) => ({ type: 'tool-call', toolCallId, toolName, input });
const toolResult = (toolCallId: string, value: string, toolName = 'f', type = 'text') => ({
  type: 'tool-result',
  toolCallId,
  toolName,
  output: { type, value },
});

function assistantCalls(...calls: [id: string, name?: string, args?: unknown][]): Message {
  const tool_calls = calls.map(([id, name = 'f', args = '{}']) => ({
    id,
    type: 'function',
    function: { name, arguments: args },
  }));
  return { role: 'assistant', content: null, tool_calls };
}

const result = (tool_call_id: string, content: Content): Message => ({ role: 'tool', tool_call_id, content });

function createPrompt(messages: Message[], vendor: VendorName = 'gemini', canCall = true): LanguageModelV4Message[] {
  return toPrompt(messages, vendors[vendor], canCall);
}

describe('toPrompt', () => {
  it('accepts any number of parts', () => {
    const many = Array.from({ length: 200_000 }, () => text('a')) as Content;
    expect(createPrompt([user('x'), user(many)])[0]?.content).toHaveLength(200_001);
  });

  it('puts system and developer messages first and joins consecutive messages of one role', () => {
    const prompt = createPrompt([
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

  it('omits blank messages and starts with a user message', () => {
    expect(createPrompt([user(' '), { role: 'assistant', content: '\n' }, { role: 'system', content: '' }])).toEqual([opening]);
    expect(createPrompt([{ role: 'assistant', content: 'Hi.' }])).toEqual([
      opening,
      { role: 'assistant', content: [text('Hi.')] },
    ]);
  });

  it('adds the names of the calls to their results, in one turn, in order', () => {
    const prompt = createPrompt([
      user('x'),
      assistantCalls(['1', 'one', '{"a":1}'], ['2', 'two']),
      result('2', 'B'),
      result('1', 'A'),
    ]);
    expect(prompt.slice(1)).toEqual([
      { role: 'assistant', content: [toolCall('1', 'one', { a: 1 }), toolCall('2', 'two')] },
      { role: 'tool', content: [toolResult('2', 'B', 'two'), toolResult('1', 'A', 'one')] },
    ]);
  });

  it('adds an error result for a missing result and converts a result without a call to text', () => {
    const prompt = createPrompt([user('x'), assistantCalls(['1']), user('never mind'), result('7', 'late')]);
    expect(prompt.slice(2)).toEqual([
      { role: 'tool', content: [toolResult('1', 'No result was given.', 'f', 'error-text')] },
      { role: 'user', content: [text('never mind'), text('late')] },
    ]);
  });

  it('makes call IDs unique and valid for the vendor', () => {
    const twice = [
      user('x'),
      assistantCalls(['call_1']),
      result('call_1', 'A'),
      assistantCalls(['call_1']),
      result('call_1', 'B'),
    ];
    const listIds = (vendor: VendorName): unknown[] =>
      createPrompt(twice, vendor).flatMap(({ content }) =>
        typeof content === 'string' ? [] : content.flatMap((part) => ('toolCallId' in part ? [part.toolCallId] : [])),
      );
    expect(listIds('bedrock')).toEqual(['call_1', 'call_1', '000000000', '000000000']);
    expect(listIds('mistral')).toEqual(['000000000', '000000000', '000000001', '000000001']);
  });

  it('converts calls and results to text if there are no tools and the vendor then rejects calls', () => {
    const messages = [user('x'), assistantCalls(['1', 'get', '{"a":1}']), result('1', 'A')];
    expect(createPrompt(messages, 'bedrock', false)).toEqual([
      { role: 'user', content: [text('x')] },
      { role: 'assistant', content: [text('I called get with {"a":1}.')] },
      { role: 'user', content: [text('get gave this result:'), text('A')] },
    ]);
    expect(createPrompt(messages, 'gemini', false)).toEqual(createPrompt(messages, 'gemini', true));
  });

  it('preserves arguments that are not an object and adds a note for an empty result', () => {
    const prompt = createPrompt([
      user('x'),
      assistantCalls(['1', 'f', '[1]'], ['2', 'f', ''], ['3', 'f', 'oops']),
      result('1', ''),
    ]);
    expect(prompt[1]?.content).toMatchObject([{ input: { arguments: '[1]' } }, { input: {} }, { input: { arguments: 'oops' } }]);
    expect(prompt[2]?.content[0]).toMatchObject({ output: { type: 'text', value: '(The tool gave no output.)' } });
  });

  it('sends files of tool results if the vendor accepts them, but never a URL that the vendor would fetch', () => {
    const url = 'https://example.org/a.png';
    const getOutput = (vendor: VendorName, content: Content): unknown => {
      const turn = createPrompt([user('x'), assistantCalls(['1']), result('1', content)], vendor)[2];
      return turn?.role === 'tool' && turn.content[0]?.type === 'tool-result' ? turn.content[0].output : undefined;
    };
    const file = { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'iVBORw0KGgo=' } };
    expect(getOutput('bedrock', [text('See:'), png])).toEqual({ type: 'content', value: [text('See:'), file] });
    expect(getOutput('mistral', [text('See:'), png])).toEqual({
      type: 'text',
      value: 'See:\n\n(A file of the type image/png that cannot be shown here.)',
    });
    expect(getOutput('vertex', [{ type: 'image_url', image_url: { url } }])).toEqual({
      type: 'text',
      value: `(A file of the type image/png at ${url}.)`,
    });
  });
});

const ids = constantFrom('a', 'b', 'call_1', 'abcDEF123', '__proto__', 'x y', '');
const contents = oneof(string({ maxLength: 4 }), constantFrom(' ', 'yes'));
const parts = array(oneof(record({ type: constantFrom('text'), text: contents }), constantFrom(png)), {
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
  record({ role: constantFrom('system', 'developer'), content: contents }),
  record({ role: constantFrom('user'), content: oneof(contents, parts) }),
  record({ role: constantFrom('assistant'), content: option(contents), tool_calls: calls }),
  record({ role: constantFrom('tool'), content: oneof(contents, parts), tool_call_id: ids }),
);

describe('toPrompt for an arbitrary conversation', () => {
  it.each(['gemini', 'bedrock', 'mistral'] as const)('returns a valid prompt for %s', (vendor) => {
    assert(
      property(array(anyMessage, { minLength: 1, maxLength: 12 }), (inputs) => {
        const messages = inputs.map((message, index) => parseMessage(message, `messages[${index}]`));
        checkPrompt(createPrompt(messages, vendor), vendors[vendor].callIdPattern);
      }),
      { numRuns: 300 },
    );
  });
});

/** Fails if a vendor would answer with 400. Every call has one result in the next turn, and no turn is empty. */
function checkPrompt(prompt: readonly LanguageModelV4Message[], idPattern: RegExp): void {
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
      expect(part.toolCallId).toMatch(idPattern);
      expect(seen.has(part.toolCallId)).toBe(false);
      seen.add(part.toolCallId);
      waiting.push(part.toolCallId);
    }
  }
  expect(waiting).toEqual([]);
}
