import fc from 'fast-check';
import '#test/same-cases.ts';
import { describe, expect, test } from 'vitest';
import type { ChatRequest } from './chat-request.ts';
import { type Chunk, type Delta, type FinishReason, type ToolCallDelta, toChunk } from './chunk.ts';
import { Accumulator } from './fold-frames.ts';
import { FunctionCallReply, toToolsRequest, usesFunctions } from './function-calling.ts';

const question = { role: 'user' as const, content: 'How is the weather?' };
const offer = { name: 'weather', parameters: { type: 'object' } };

const startedCall = { index: 0, id: 'c1', type: 'function', function: { name: 'weather', arguments: '' } };

function createCallMessage(name: string, args = '{}') {
  return { role: 'assistant' as const, function_call: { name, arguments: args } };
}

function createResultMessage(name: string, content = 'sunny') {
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

describe('toToolsRequest without functions', () => {
  test.each<ChatRequest>([
    { messages: [question] },
    { messages: [question], tools: [{ type: 'function', function: offer }], tool_choice: 'auto' },
    { messages: [question, { role: 'assistant', tool_calls: [] }, { role: 'tool', content: 'a', name: 'b' }] },
  ])('returns request %# unchanged', (request) => {
    expect(usesFunctions(request)).toBe(false);
    expect(toToolsRequest(request)).toBe(request);
  });
});

describe('toToolsRequest with the fields of a request', () => {
  test('converts functions to tools and keeps other fields', () => {
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
  ] as const)('converts the choice %j to %j', (choice, toolChoice) => {
    const { tool_choice, function_call } = toToolsRequest({ messages: [question], functions: [offer], function_call: choice });
    expect(tool_choice).toEqual(toolChoice);
    expect(function_call).toBeUndefined();
  });

  test.each([undefined, []])('drops the choice if the functions are %j', (functions) => {
    const request = { messages: [question], function_call: 'auto' as const, ...(functions && { functions }) };
    expect(toToolsRequest(request)).toStrictEqual({ messages: [question] });
  });
});

describe('toToolsRequest with the messages of a conversation', () => {
  test('creates ids that connect results to calls', () => {
    const messages = [
      question,
      createCallMessage('weather', '{"a":1}'),
      createResultMessage('weather'),
      createCallMessage('time'),
      createResultMessage('time', '12:00'),
    ];
    expect(toMessages(...messages)).toStrictEqual([
      ...[question, call('call_0', 'weather', '{"a":1}'), result('call_0')],
      ...[call('call_1', 'time'), result('call_1', '12:00')],
    ]);
  });

  test('keeps ids and messages when the conversation grows', () => {
    const messages = [question, createCallMessage('weather'), createResultMessage('weather')];
    const longer = toMessages(...messages, createCallMessage('time'), createResultMessage('time')) as unknown[];
    expect(longer.slice(0, 3)).toEqual(toMessages(...messages));
  });

  test('keeps text and unknown fields of a call', () => {
    expect(toMessages({ ...createCallMessage('weather'), content: 'Wait.', x: 1 }, createResultMessage('weather'))).toStrictEqual(
      [{ ...call('call_0', 'weather'), content: 'Wait.', x: 1 }, result('call_0')],
    );
  });

  test('moves a result directly after its call', () => {
    const messages = [createCallMessage('weather'), question, createResultMessage('weather')];
    expect(toMessages(...messages)).toStrictEqual([call('call_0', 'weather'), result('call_0'), question]);
  });

  test('drops a call without a result but keeps its text', () => {
    expect(toMessages(createCallMessage('weather'), question)).toStrictEqual([question]);
    expect(toMessages(question, { ...createCallMessage('weather'), content: 'Wait.' })).toStrictEqual([
      question,
      { role: 'assistant', content: 'Wait.' },
    ]);
    expect(toMessages(createCallMessage('a'), createCallMessage('b'), createResultMessage('b'))).toStrictEqual([
      call('call_0', 'b'),
      result('call_0'),
    ]);
  });

  test('converts a result without a call to a user message', () => {
    const alone = { role: 'user', name: 'b', content: 'sunny' };
    expect(toMessages(question, createResultMessage('b'))).toStrictEqual([question, alone]);
    expect(toMessages(createCallMessage('a'), createResultMessage('a'), createResultMessage('b'))).toStrictEqual([
      call('call_0', 'a'),
      result('call_0'),
      alone,
    ]);
  });

  test('connects a result to a call whose name has dashes', () => {
    expect(toMessages(createCallMessage('get-weather'), createResultMessage('get_weather'))).toStrictEqual([
      call('call_0', 'get-weather'),
      result('call_0'),
    ]);
  });

  test('keeps the tool call of a message that has both forms', () => {
    const { function_call, ...toolForm } = { ...createCallMessage('weather'), tool_calls: [{ id: 'x' }] };
    const answer = { role: 'tool' as const, tool_call_id: 'x', content: 'sunny' };
    expect(toMessages({ ...toolForm, function_call }, answer)).toStrictEqual([toolForm, answer]);
  });

  test('does not modify the messages', () => {
    const messages = [question, createCallMessage('weather'), createResultMessage('weather')];
    const before = JSON.stringify(messages);
    toToolsRequest({ messages, functions: [offer] });
    expect(JSON.stringify(messages)).toBe(before);
  });
});

describe('toToolsRequest with any conversation', () => {
  const message = fc.oneof(
    fc.constant(question),
    fc.record({ name: fc.constantFrom('a', 'b'), args: fc.json() }).map(({ name, args }) => createCallMessage(name, args)),
    fc
      .record({ name: fc.constantFrom('a', 'b'), content: fc.string() })
      .map(({ name, content }) => createResultMessage(name, content)),
  );

  test('places one result directly after each call, and no other results', () => {
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

  test('keeps every result, and adds no call or result', () => {
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

function chunk(delta: Delta, finish_reason: FinishReason | null = null, index = 0): Chunk {
  return { id: 'r', object: 'chat.completion.chunk', created: 1, choices: [{ index, delta, finish_reason }] };
}

function calls(...tool_calls: object[]): Chunk {
  return chunk({ tool_calls: tool_calls as ToolCallDelta[] });
}

function convertChunks(...chunks: Chunk[]): unknown[] {
  const reply = new FunctionCallReply();
  return chunks.map((given) => reply.toFunctionCall(given).choices[0]?.delta);
}

function folded(chunks: readonly Chunk[]): object | undefined {
  const reply = new FunctionCallReply();
  const accumulator = new Accumulator();
  for (const chunk of chunks) accumulator.add(reply.toFunctionCall(chunk) as unknown as Chunk);
  return accumulator.getCompletion().choices[0];
}

describe('FunctionCallReply with a chunk without tool calls', () => {
  test.each([
    chunk({ role: 'assistant', content: '' }),
    chunk({ content: 'Hello', custom_content: { state: {} } }),
    chunk({}, 'stop'),
    { ...chunk({}), choices: [], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } },
  ])('returns chunk %# unchanged', (given) => {
    expect(new FunctionCallReply().toFunctionCall(given)).toBe(given);
  });
});

describe('FunctionCallReply with a tool call', () => {
  test('converts each fragment to a function call', () => {
    expect(
      convertChunks(
        calls(startedCall),
        calls({ index: 0, function: { arguments: '{"a"' } }),
        calls({ index: 0, function: { arguments: ':1}' } }),
      ),
    ).toStrictEqual([
      { function_call: { name: 'weather', arguments: '' } },
      { function_call: { arguments: '{"a"' } },
      { function_call: { arguments: ':1}' } },
    ]);
  });

  test('keeps other fields of the delta', () => {
    expect(convertChunks(chunk({ role: 'assistant', content: null, tool_calls: [startedCall as ToolCallDelta] }))).toStrictEqual([
      { role: 'assistant', content: null, function_call: { name: 'weather', arguments: '' } },
    ]);
  });

  test('changes the finish reason to function_call', () => {
    const reply = new FunctionCallReply();
    expect(reply.toFunctionCall(chunk({}, 'tool_calls'))).toStrictEqual(chunk({}, 'function_call'));
    expect(reply.toFunctionCall(chunk({}, 'length'))).toStrictEqual(chunk({}, 'length'));
  });

  test('does not modify the chunk', () => {
    const original = calls(startedCall);
    const before = JSON.stringify(original);
    new FunctionCallReply().toFunctionCall(original);
    expect(JSON.stringify(original)).toBe(before);
  });
});

describe('FunctionCallReply with several tool calls', () => {
  const second = { index: 1, id: 'c2', function: { name: 'time', arguments: '{}' } };

  test('keeps only the first call if they arrive in sequence', () => {
    expect(convertChunks(calls(startedCall), calls(second), calls({ index: 0, function: { arguments: '{}' } }))).toStrictEqual([
      { function_call: { name: 'weather', arguments: '' } },
      {},
      { function_call: { arguments: '{}' } },
    ]);
  });

  test('keeps only the first call if they arrive together in any order', () => {
    expect(convertChunks(calls(second, startedCall))).toStrictEqual([{ function_call: { name: 'weather', arguments: '' } }]);
  });

  test('keeps all parts of the first call in one event', () => {
    const [start, end] = [{ function: { arguments: '{"city":' } }, { function: { arguments: '"Oslo"}' } }];
    expect(convertChunks(calls(startedCall, second, { index: 0, ...start }, { index: 0, ...end }))).toStrictEqual([
      { function_call: { name: 'weather', arguments: '{"city":"Oslo"}' } },
    ]);
    expect(convertChunks(calls(startedCall), calls({ index: 0, ...start }, { index: 0, ...end }, { index: 0 }))[1]).toStrictEqual(
      {
        function_call: { arguments: '{"city":"Oslo"}' },
      },
    );
  });

  test('keeps the first call of each choice', () => {
    const reply = new FunctionCallReply();
    const toDelta = (given: Chunk) => reply.toFunctionCall(given).choices[0]?.delta;
    toDelta(calls(startedCall));
    const other = chunk({ tool_calls: [{ ...second, type: 'function' }] }, null, 1);
    expect(toDelta(other)).toStrictEqual({ function_call: { name: 'time', arguments: '{}' } });
    expect(toDelta(calls({ index: 1, function: { arguments: 'x' } }))).toStrictEqual({});
  });
});

describe('FunctionCallReply with unusual chunks', () => {
  test('drops null and empty tool calls', () => {
    expect(convertChunks(chunk({ content: 'a', tool_calls: [] }))).toStrictEqual([{ content: 'a' }]);
    expect(convertChunks(chunk({ content: 'a', tool_calls: null as never }))).toStrictEqual([{ content: 'a', tool_calls: null }]);
  });
});

describe('FunctionCallReply with any function call', () => {
  const functionCall = fc.record({ name: fc.stringMatching(/^[a-zA-Z0-9_-]{1,64}$/), arguments: fc.json() });

  test('restores the function call from its tool form', () => {
    fc.assert(
      fc.property(functionCall, fc.nat(), (asked, roll) => {
        const [message] = toToolsRequest({ messages: [{ role: 'assistant', function_call: asked }] }).messages;
        const [call] = (message?.tool_calls ?? []) as ToolCallDelta[];
        const middle = roll % (asked.arguments.length + 1);
        const chunks = [
          calls({ ...call, index: 0, function: { name: asked.name, arguments: asked.arguments.slice(0, middle) } }),
          calls({ index: 0, function: { arguments: asked.arguments.slice(middle) } }),
          chunk({}, 'tool_calls'),
        ];
        const expected = { index: 0, message: { role: 'assistant', function_call: asked }, finish_reason: 'function_call' };
        expect(folded(chunks)).toEqual(expected);
      }),
    );
  });

  test('restores the function call from a complete reply', () => {
    fc.assert(
      fc.property(functionCall, (asked) => {
        const message = {
          role: 'assistant' as const,
          content: null,
          tool_calls: [{ index: 0, id: 'c', type: 'function', function: asked }],
        };
        const whole = toChunk({
          id: 'r',
          object: 'chat.completion',
          created: 1,
          choices: [{ index: 0, message, finish_reason: 'tool_calls' }],
        });
        expect(folded([whole as unknown as Chunk])).toEqual({
          index: 0,
          message: { role: 'assistant', function_call: asked },
          finish_reason: 'function_call',
        });
      }),
    );
  });
});
