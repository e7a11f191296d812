import fc from 'fast-check';
import '#test/same-cases.ts';
import { describe, expect, test } from 'vitest';
import type { ChatRequest } from './chat-request.ts';
import { toToolsRequest, usesFunctions } from './function-calling.ts';

const question = { role: 'user' as const, content: 'How is the weather?' };
const offer = { name: 'weather', parameters: { type: 'object' } };

function asks(name: string, args = '{}') {
  return { role: 'assistant' as const, function_call: { name, arguments: args } };
}

function tells(name: string, content = 'sunny') {
  return { role: 'function' as const, name, content };
}

function call(id: string, name: string, args = '{}') {
  return { role: 'assistant', content: null, tool_calls: [{ id, type: 'function', function: { name, arguments: args } }] };
}

function result(id: string, content = 'sunny') {
  return { role: 'tool', tool_call_id: id, content };
}

function toMessages(...messages: ChatRequest['messages']): unknown {
  return toToolsRequest({ messages }).messages;
}

describe('a request that needs no change', () => {
  test.each<ChatRequest>([
    { messages: [question] },
    { messages: [question], tools: [{ type: 'function', function: offer }], tool_choice: 'auto' },
    { messages: [question, { role: 'assistant', tool_calls: [] }, { role: 'tool', content: 'a', name: 'b' }] },
  ])('%# is the same object', (request) => {
    expect(usesFunctions(request)).toBe(false);
    expect(toToolsRequest(request)).toBe(request);
  });
});

describe('the fields of a request', () => {
  test('become tools, beside everything else', () => {
    const request: ChatRequest = { model: 'm', messages: [question], functions: [offer], seed: 1 };
    expect(usesFunctions(request)).toBe(true);
    expect(toToolsRequest(request)).toStrictEqual({
      ...{ model: 'm', messages: [question], seed: 1 },
      tools: [{ type: 'function', function: offer }],
    });
    expect(request.functions).toEqual([offer]);
  });

  test.each([
    ['none', 'none'],
    ['auto', 'auto'],
    [{ name: 'weather' }, { type: 'function', function: { name: 'weather' } }],
  ] as const)('say the choice %j as %j', (choice, toolChoice) => {
    const { tool_choice, function_call } = toToolsRequest({ messages: [question], functions: [offer], function_call: choice });
    expect(tool_choice).toEqual(toolChoice);
    expect(function_call).toBeUndefined();
  });

  test.each([undefined, []])('offer no tools and no choice where the functions are %j', (functions) => {
    const request = { messages: [question], function_call: 'auto' as const, ...(functions && { functions }) };
    expect(toToolsRequest(request)).toStrictEqual({ messages: [question] });
  });
});

describe('the messages of a conversation', () => {
  test('get ids that tie results to calls', () => {
    const messages = [question, asks('weather', '{"a":1}'), tells('weather'), asks('time'), tells('time', '12:00')];
    expect(toMessages(...messages)).toStrictEqual([
      ...[question, call('call_0', 'weather', '{"a":1}'), result('call_0')],
      ...[call('call_1', 'time'), result('call_1', '12:00')],
    ]);
  });

  test('keep ids and bytes when the conversation goes on', () => {
    const messages = [question, asks('weather'), tells('weather')];
    const longer = toMessages(...messages, asks('time'), tells('time')) as unknown[];
    expect(longer.slice(0, 3)).toEqual(toMessages(...messages));
  });

  test('keep text and unknown fields beside a call', () => {
    expect(toMessages({ ...asks('weather'), content: 'Wait.', x: 1 }, tells('weather'))).toStrictEqual([
      { ...call('call_0', 'weather'), content: 'Wait.', x: 1 },
      result('call_0'),
    ]);
  });

  test('move a result directly after its call', () => {
    const messages = [asks('weather'), question, tells('weather')];
    expect(toMessages(...messages)).toStrictEqual([call('call_0', 'weather'), result('call_0'), question]);
  });

  test('drop a call without a result but keep its text', () => {
    expect(toMessages(asks('weather'), question)).toStrictEqual([question]);
    expect(toMessages(question, { ...asks('weather'), content: 'Wait.' })).toStrictEqual([
      question,
      { role: 'assistant', content: 'Wait.' },
    ]);
    expect(toMessages(asks('a'), asks('b'), tells('b'))).toStrictEqual([call('call_0', 'b'), result('call_0')]);
  });

  test('turn a result without a call into a user message', () => {
    const alone = { role: 'user', name: 'b', content: 'sunny' };
    expect(toMessages(question, tells('b'))).toStrictEqual([question, alone]);
    expect(toMessages(asks('a'), tells('a'), tells('b'))).toStrictEqual([call('call_0', 'a'), result('call_0'), alone]);
  });

  test('tie a result to a call whose name has dashes', () => {
    expect(toMessages(asks('get-weather'), tells('get_weather'))).toStrictEqual([
      call('call_0', 'get-weather'),
      result('call_0'),
    ]);
  });

  test('that hold both forms of one call keep the tool call', () => {
    const { function_call, ...toolForm } = { ...asks('weather'), tool_calls: [{ id: 'x' }] };
    const answer = { role: 'tool' as const, tool_call_id: 'x', content: 'sunny' };
    expect(toMessages({ ...toolForm, function_call }, answer)).toStrictEqual([toolForm, answer]);
  });

  test('are not changed themselves', () => {
    const messages = [question, asks('weather'), tells('weather')];
    const before = JSON.stringify(messages);
    toToolsRequest({ messages, functions: [offer] });
    expect(JSON.stringify(messages)).toBe(before);
  });
});

describe('any conversation', () => {
  const message = fc.oneof(
    fc.constant(question),
    fc.record({ name: fc.constantFrom('a', 'b'), args: fc.json() }).map(({ name, args }) => asks(name, args)),
    fc.record({ name: fc.constantFrom('a', 'b'), content: fc.string() }).map(({ name, content }) => tells(name, content)),
  );

  test('has one result right behind each call, and no result elsewhere', () => {
    fc.assert(
      fc.property(fc.array(message), (messages) => {
        const tools = toToolsRequest({ messages }).messages;
        tools.forEach((made, position) => {
          const [asked] = (made.tool_calls ?? []) as { id: string }[];
          const next = tools[position + 1];
          if (asked !== undefined) expect(next?.tool_call_id).toBe(asked.id);
          if (made.role === 'tool') expect(tools[position - 1]?.tool_calls).toMatchObject([{ id: made.tool_call_id }]);
          expect(made).not.toHaveProperty('function_call');
        });
      }),
    );
  });

  test('contains every result, and no call or result that the client did not send', () => {
    fc.assert(
      fc.property(fc.array(message), (messages) => {
        const sent = new Set((messages as ChatRequest['messages']).map(({ function_call: asked }) => JSON.stringify(asked)));
        const tools = toToolsRequest({ messages }).messages;
        for (const { tool_calls: [asked] = [] } of tools as { tool_calls?: { function: object }[] }[])
          if (asked !== undefined) expect(sent).toContain(JSON.stringify(asked.function));
        const toTexts = (all: ChatRequest['messages']) =>
          all.flatMap(({ role, content }) => (role === 'assistant' ? [] : [content]));
        expect(toTexts(tools).toSorted()).toEqual(toTexts(messages).toSorted());
      }),
    );
  });
});
