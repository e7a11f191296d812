import { afterAll, describe, expect, it } from 'vitest';
import { citationInstruction } from '#domain/tools/tool.ts';
import { createDemo, createTool, createUserMessage } from '#test/demo-model.ts';

const { sendChat, embedder } = createDemo();
afterAll(() => embedder.close());

const weather = createTool('get_weather', 'Get the current weather in a city', { location: { type: 'string' } });
const time = createTool('get_current_time', 'Get the current time in a time zone or city', { city: { type: 'string' } });
const tools = [weather, time];

function withResults(question: string, ...results: (readonly [name: string, text: string])[]) {
  const tool_calls = results.map(([name], index) => ({
    id: `call_${index}`,
    type: 'function',
    function: { name, arguments: '{}' },
  }));
  return [
    createUserMessage(question),
    { role: 'assistant' as const, content: null, tool_calls },
    ...results.map(([, content], index) => ({ role: 'tool' as const, tool_call_id: `call_${index}`, content })),
  ];
}

describe('a fitting tool', () => {
  it('is called with its arguments, after a stage that gives the reason', async () => {
    const { calls, reply, message, chunks } = await sendChat('What is the weather in Paris?', { tools });
    expect(calls).toEqual([{ name: 'get_weather', arguments: { location: 'Paris' } }]);
    expect(reply.choices[0]?.finish_reason).toBe('tool_calls');
    expect(message.content ?? null).toBeNull();
    const stages = message.custom_content?.stages;
    expect(stages?.map(({ name, status }) => [name, status])).toEqual([
      ['Reading the question', 'completed'],
      ['Looking for a fitting tool', 'completed'],
    ]);
    expect(stages?.[1]?.content).toMatch(/`get_weather`: 0\.\d\d[\s\S]+Selected: `get_weather`\.$/);
    const first = chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? [])[0];
    expect(first).toMatchObject({
      index: 0,
      id: expect.stringMatching(/^call_/),
      type: 'function',
      function: { name: 'get_weather', arguments: '' },
    });
  });

  it('is not called for a joke', async () => {
    const { calls, reply, content } = await sendChat('Tell me a joke', { tools });
    expect(calls).toEqual([]);
    expect(reply.choices[0]?.finish_reason).toBe('stop');
    expect(content).toContain('no offered tool fits');
  });

  it('is called for each part of the question, unless the request disables parallel calls', async () => {
    const question = 'What is the weather in Paris and what time is it in Tokyo?';
    expect((await sendChat(question, { tools })).calls).toEqual([
      { name: 'get_weather', arguments: { location: 'Paris' } },
      { name: 'get_current_time', arguments: { city: 'Tokyo' } },
    ]);
    expect((await sendChat(question, { tools, parallel_tool_calls: false })).calls).toHaveLength(1);
  });

  it('is called in the older form if functions are offered', async () => {
    const { message, reply } = await sendChat('What is the weather in Paris?', { functions: tools.map((one) => one.function) });
    expect(message.function_call).toEqual({ name: 'get_weather', arguments: '{"location":"Paris"}' });
    expect(message.tool_calls).toBeUndefined();
    expect(reply.choices[0]?.finish_reason).toBe('function_call');
  });
});

describe('tool_choice', () => {
  it('prevents calls if it is none', async () => {
    expect((await sendChat('What is the weather in Paris?', { tools, tool_choice: 'none' })).calls).toEqual([]);
    const { message } = await sendChat('What is the weather in Paris?', { functions: [weather.function], function_call: 'none' });
    expect(message.function_call).toBeUndefined();
  });

  it('calls the nearest tool if it is required, even if it does not fit', async () => {
    expect((await sendChat('Tell me a joke', { tools, tool_choice: 'required' })).calls).toHaveLength(1);
  });

  it('calls the named tool', async () => {
    const named = { type: 'function', function: { name: 'get_current_time' } };
    expect((await sendChat('hello', { tools, tool_choice: named })).calls.map(({ name }) => name)).toEqual(['get_current_time']);
  });

  it('is rejected if it names an unknown tool', async () => {
    const named = { type: 'function', function: { name: 'nothing' } };
    await expect(sendChat('hello', { tools, tool_choice: named })).rejects.toMatchObject({
      kind: 'refused',
      status: 400,
      param: 'tool_choice',
    });
  });

  it.each([[undefined], [null], ['nonsense'], [7], [{}], [{ type: 'allowed_tools', allowed_tools: {} }]])(
    '%j counts as auto',
    async (tool_choice) => {
      expect((await sendChat('What is the weather in Paris?', { tools, tool_choice })).calls).toHaveLength(1);
    },
  );
});

describe('malformed tools', () => {
  it('are ignored', async () => {
    const malformed = [
      null,
      7,
      {},
      { type: 'function' },
      { type: 'function', function: { name: 7 } },
      { type: 'function', function: { name: 'bare' } },
    ];
    expect((await sendChat('Tell me a joke', { tools: malformed })).reply.choices[0]?.finish_reason).toBe('stop');
    expect((await sendChat('hello', { tools: 'none' })).content).toContain('Hello');
  });
});

describe('tool results', () => {
  it('at the end are quoted, each under the name of its tool', async () => {
    const messages = withResults(
      'What is the weather in Paris and what time is it in Tokyo?',
      ['get_weather', 'Sunny, 21 °C'],
      ['get_current_time', '09:30'],
    );
    const { content, calls } = await sendChat(messages, { tools });
    expect(content).toBe('get_weather says: Sunny, 21 °C\n\nget_current_time says: 09:30');
    expect(calls).toEqual([]);
  });

  it('are named even if they are empty', async () => {
    expect((await sendChat(withResults('What is the weather?', ['get_weather', '']), { tools })).content).toBe(
      'get_weather says nothing.',
    );
  });

  it('of a function are quoted', async () => {
    const messages = [
      createUserMessage('What is the weather in Paris?'),
      { role: 'function' as const, name: 'get_weather', content: 'Rain' },
    ];
    expect((await sendChat(messages, { functions: [weather.function] })).content).toBe('get_weather says: Rain');
  });

  it('are reduced to the sentences nearest to the question if they are long', async () => {
    const long = `${'The garden is open to visitors. '.repeat(30)}Employees get 30 days of vacation a year. ${'The kitchen has two ovens. '.repeat(30)}`;
    const { content } = await sendChat(withResults('How many vacation days do employees get?', ['query_document', long]));
    expect(content).toContain('query_document says, nearest to your question:\n\n> Employees get 30 days of vacation a year.');
    expect(content.length).toBeLessThan(500);
  });

  it('of numbered passages are quoted with the number, without their headings', async () => {
    const passages = [
      'handbook.md — Handbook › Vacation days of employees\nEmployees get 30 days of vacation a year.',
      `The canteen serves lunch. ${'The kitchen has two ovens. '.repeat(30)}`,
    ];
    const long = passages.map((passage, index) => `[${index + 1}] ${passage}`).join('\n\n');
    const { content } = await sendChat(withResults('How many vacation days do employees get?', ['query_document', long]));
    expect(content).toBe('query_document says, nearest to your question:\n\n> Employees get 30 days of vacation a year. [1]');
    const { content: unrelated } = await sendChat(withResults('Which planets have rings?', ['query_document', long]));
    expect(unrelated).toBe('query_document returned 2 passages. No passage is close to your question.');
  });

  it('of numbered passages are quoted without the citation hint, now and later', async () => {
    for (const text of ['The kitchen has two ovens.', 'The kitchen has two ovens. '.repeat(30)]) {
      const result = `[1] ${text}\n\n${citationInstruction}\n\nNote: Searched by words only.`;
      const first = withResults('Which number do I put behind what I take from a passage?', ['query_document', result]);
      const { content } = await sendChat(first);
      expect(content).toMatch(/ovens|No passage is close|the beginning of/);
      const later = [
        ...first,
        { role: 'assistant' as const, content },
        createUserMessage('And of the passages that I cite, what is the user shown?'),
      ];
      for (const expected of [content, (await sendChat(later)).content])
        expect(expected).not.toMatch(/Behind what you|passages that you cite|Note:/);
    }
  });

  it.each([
    ['{"day":"monday","opens_at":"10:00","seats":24,"busy":false}', 'day monday, opens at 10:00, seats 24, busy false.'],
    ['{"hours":{"monday":"10:00"}}', '{"hours":{"monday":"10:00"}}'],
    ['{"none":null}', '{"none":null}'],
    ['{}', '{}'],
    ['{half', '{half'],
    ['[1, 2]', '[1, 2]'],
  ])('of JSON are written as text if they are plain values: %s', async (result, expected) => {
    expect((await sendChat(withResults('When does it open?', ['hours', result]))).content).toBe(`hours says: ${expected}`);
  });

  it('before a further question do not answer it', async () => {
    const messages = [
      ...withResults('What is the weather in Paris?', ['get_weather', 'Sunny']),
      { role: 'assistant' as const, content: 'Sunny' },
      createUserMessage('And what time is it in Tokyo?'),
    ];
    expect((await sendChat(messages, { tools })).calls.map(({ name }) => name)).toEqual(['get_current_time']);
  });
});
