import fc from 'fast-check';
import '#test/same-cases.ts';
import { describe, expect, test } from 'vitest';
import { Accumulator } from './accumulate.ts';
import { type Chunk, type Delta, type FinishReason, type ToolCallDelta, toChunk } from './chunk.ts';
import { FunctionCallReply } from './function-call-reply.ts';
import { toToolsRequest } from './function-calling.ts';

function chunk(delta: Delta, finish_reason: FinishReason | null = null, index = 0): Chunk {
  return { id: 'r', object: 'chat.completion.chunk', created: 1, choices: [{ index, delta, finish_reason }] };
}

function calls(...tool_calls: object[]): Chunk {
  return chunk({ tool_calls: tool_calls as ToolCallDelta[] });
}

function told(...chunks: Chunk[]): unknown[] {
  const reply = new FunctionCallReply();
  return chunks.map((given) => reply.toFunctionCall(given).choices[0]?.delta);
}

function folded(chunks: readonly Chunk[]): object | undefined {
  const reply = new FunctionCallReply();
  const accumulator = new Accumulator();
  for (const given of chunks) accumulator.add(reply.toFunctionCall(given) as unknown as Chunk);
  return accumulator.completion().choices[0];
}

const begun = { index: 0, id: 'c1', type: 'function', function: { name: 'weather', arguments: '' } };

describe('a chunk without tool calls', () => {
  test.each([
    chunk({ role: 'assistant', content: '' }),
    chunk({ content: 'Hello', custom_content: { state: {} } }),
    chunk({}, 'stop'),
    { ...chunk({}), choices: [], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } },
  ])('%# is the same object', (given) => {
    expect(new FunctionCallReply().toFunctionCall(given)).toBe(given);
  });
});

describe('a tool call', () => {
  test('is told as a function call, fragment by fragment', () => {
    expect(
      told(
        calls(begun),
        calls({ index: 0, function: { arguments: '{"a"' } }),
        calls({ index: 0, function: { arguments: ':1}' } }),
      ),
    ).toStrictEqual([
      { function_call: { name: 'weather', arguments: '' } },
      { function_call: { arguments: '{"a"' } },
      { function_call: { arguments: ':1}' } },
    ]);
  });

  test('keeps what stands beside it', () => {
    expect(told(chunk({ role: 'assistant', content: null, tool_calls: [begun as ToolCallDelta] }))).toStrictEqual([
      { role: 'assistant', content: null, function_call: { name: 'weather', arguments: '' } },
    ]);
  });

  test('ends with the finish reason of a function call', () => {
    const reply = new FunctionCallReply();
    expect(reply.toFunctionCall(chunk({}, 'tool_calls'))).toStrictEqual(chunk({}, 'function_call'));
    expect(reply.toFunctionCall(chunk({}, 'length'))).toStrictEqual(chunk({}, 'length'));
  });

  test('does not change the chunk it came in', () => {
    const given = calls(begun);
    const before = JSON.stringify(given);
    new FunctionCallReply().toFunctionCall(given);
    expect(JSON.stringify(given)).toBe(before);
  });
});

describe('of several tool calls only the first is told', () => {
  const second = { index: 1, id: 'c2', function: { name: 'time', arguments: '{}' } };

  test('where they come in turn', () => {
    expect(told(calls(begun), calls(second), calls({ index: 0, function: { arguments: '{}' } }))).toStrictEqual([
      { function_call: { name: 'weather', arguments: '' } },
      {},
      { function_call: { arguments: '{}' } },
    ]);
  });

  test('where they come at once, in any order', () => {
    expect(told(calls(second, begun))).toStrictEqual([{ function_call: { name: 'weather', arguments: '' } }]);
  });

  test('with all parts of one event', () => {
    const [start, end] = [{ function: { arguments: '{"city":' } }, { function: { arguments: '"Oslo"}' } }];
    expect(told(calls(begun, second, { index: 0, ...start }, { index: 0, ...end }))).toStrictEqual([
      { function_call: { name: 'weather', arguments: '{"city":"Oslo"}' } },
    ]);
    expect(told(calls(begun), calls({ index: 0, ...start }, { index: 0, ...end }, { index: 0 }))[1]).toStrictEqual({
      function_call: { arguments: '{"city":"Oslo"}' },
    });
  });

  test('in each choice apart', () => {
    const reply = new FunctionCallReply();
    const toDelta = (given: Chunk) => reply.toFunctionCall(given).choices[0]?.delta;
    toDelta(calls(begun));
    const other = chunk({ tool_calls: [{ ...second, type: 'function' }] }, null, 1);
    expect(toDelta(other)).toStrictEqual({ function_call: { name: 'time', arguments: '{}' } });
    expect(toDelta(calls({ index: 1, function: { arguments: 'x' } }))).toStrictEqual({});
  });
});

describe('odd chunks', () => {
  test('with null or empty tool calls lose them', () => {
    expect(told(chunk({ content: 'a', tool_calls: [] }))).toStrictEqual([{ content: 'a' }]);
    expect(told(chunk({ content: 'a', tool_calls: null as never }))).toStrictEqual([{ content: 'a', tool_calls: null }]);
  });
});

describe('any function call', () => {
  const functionCall = fc.record({ name: fc.stringMatching(/^[a-zA-Z0-9_-]{1,64}$/), arguments: fc.json() });

  test('comes back from the form of tools as it was', () => {
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

  test('comes back from a whole reply too', () => {
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
