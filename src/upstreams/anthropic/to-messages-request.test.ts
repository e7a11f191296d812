import { describe, expect, it } from 'vitest';
import { Turn } from '#agent/turn.ts';
import { type ChatRequest, parseChatRequest } from '#contract/chat/chat-request.ts';
import type { Chunk } from '#contract/chat/chunk.ts';
import type { MessageParam } from '#contract/messages/dialect.ts';
import { fixture, translate } from '#test/anthropic-streams.ts';
import { requestFields } from './request-fields.ts';
import { toMessagesRequest, toToolFields } from './to-messages-request.ts';

const hello: ChatRequest['messages'] = [{ role: 'user', content: 'Hello' }];

function translated(fields: object, { model = 'claude-haiku-4-5', limit = undefined as number | undefined } = {}) {
  const request = parseChatRequest({ model: 'ours', messages: hello, ...fields });
  return toMessagesRequest(request, { model, maxCompletionTokens: limit });
}

/** Returns the fields of the converted request that differ from the default. */
function convertFields(fields: object, context?: { model?: string; limit?: number }) {
  const { model: _model, messages: _messages, max_tokens: _maxTokens, ...rest } = translated(fields, context);
  return rest;
}

describe('toMessagesRequest', () => {
  it('adds only the required fields to a plain request', () => {
    expect(translated({ stream: true })).toEqual({
      model: 'claude-haiku-4-5',
      max_tokens: 4096,
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }],
      stream: true,
    });
  });

  it.each([
    [{}, undefined, 4096],
    [{}, 8192, 8192],
    [{ max_tokens: 7 }, 8192, 7],
    [{ max_tokens: 7, max_completion_tokens: 9 }, undefined, 9],
    [{ max_completion_tokens: null }, 100, 100],
  ])('limits the reply of %j, with a limit of %j, to %j tokens', (fields, limit, expected) => {
    expect(translated(fields, { limit }).max_tokens).toBe(expected);
  });

  it.each([
    [{ temperature: 0 }, { temperature: 0 }],
    [{ temperature: 1.7 }, { temperature: 1 }],
    [{ top_p: 0.5 }, { top_p: 0.5 }],
    [{ temperature: 0.3, top_p: 0.5 }, { temperature: 0.3 }],
    [{ temperature: 1, top_p: 0.5 }, { top_p: 0.5 }],
    [{ temperature: 1, top_p: 1 }, { temperature: 1 }],
    [
      { temperature: 0.3, thinking: { type: 'enabled', budget_tokens: 2000 } },
      { thinking: { type: 'enabled', budget_tokens: 2000 } },
    ],
    [
      { temperature: 0.3, thinking: { type: 'disabled' } },
      { temperature: 0.3, thinking: { type: 'disabled' } },
    ],
  ])('converts the sampling settings %j to %j', (fields, expected) => {
    expect(convertFields(fields)).toEqual(expected);
  });

  it.each([
    [{ stop: 'END' }, { stop_sequences: ['END'] }],
    [{ stop: ['a', ' ', '\n', 'b'] }, { stop_sequences: ['a', 'b'] }],
    [{ stop: ['\n'] }, {}],
    [{ stop: null }, {}],
    [{ user: 'u1', safety_identifier: 's1' }, { metadata: { user_id: 'u1' } }],
    [{ safety_identifier: 's1', metadata: { team: 'x' } }, { metadata: { user_id: 's1' } }],
    [{ user: 'u1', metadata: { user_id: 'm1', team: 'x' } }, { metadata: { user_id: 'm1' } }],
    [{ service_tier: 'default' }, { service_tier: 'standard_only' }],
    [{ service_tier: 'auto' }, { service_tier: 'auto' }],
    [{ service_tier: 'flex' }, {}],
    [{ response_format: { type: 'json_object' } }, {}],
    [{ response_format: { type: 'json_schema', json_schema: { name: 'x' } } }, {}],
    [
      { response_format: { type: 'json_schema', json_schema: { name: 'x', strict: true, schema: { type: 'object' } } } },
      { output_config: { format: { type: 'json_schema', schema: { type: 'object' } } } },
    ],
    [{ output_config: { effort: 'low' } }, { output_config: { effort: 'low' } }],
    [
      { top_k: 5, container: 'c1', context_management: { edits: [] } },
      { top_k: 5, container: 'c1', context_management: { edits: [] } },
    ],
    [{ betas: ['a-1'] }, {}],
  ])('converts %j to %j', (fields, expected) => {
    expect(convertFields(fields)).toEqual(expected);
  });

  it('passes unknown fields, and no null', () => {
    expect(convertFields({ field_to_come: { a: 1 }, constructor: 2, container: null })).toEqual({
      field_to_come: { a: 1 },
      constructor: 2,
    });
  });

  it('drops fields without an equivalent in the dialect', () => {
    const droppedFields = [...requestFields].filter(([, { handling }]) => handling === 'dropped').map(([name]) => name);
    expect(droppedFields).toEqual(
      expect.arrayContaining(['n', 'seed', 'logit_bias', 'logprobs', 'presence_penalty', 'stream_options']),
    );
    const { functions: _functions, ...fields } = Object.fromEntries(droppedFields.map((name) => [name, undefined]));
    const request: ChatRequest = {
      messages: hello,
      ...Object.fromEntries(Object.keys(fields).map((name) => [name, { some: 'value' }])),
    };
    expect(Object.keys(toMessagesRequest(request, { model: 'm', maxCompletionTokens: undefined }))).toEqual([
      'model',
      'max_tokens',
      'messages',
    ]);
  });

  it('adds attachments and completed controls to the content', () => {
    const { messages } = translated({
      messages: [
        {
          role: 'user',
          content: 'Look',
          custom_content: {
            attachments: [
              { type: 'image/png', data: 'aGk=' },
              { type: 'application/pdf', title: 'a.pdf', data: 'aGk=' },
              { type: 'text/csv', title: 'b.csv', data: 'a,b' },
            ],
          },
        },
      ],
    });
    expect(messages[0]?.content).toEqual([
      { type: 'text', text: 'Look' },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } },
      { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'aGk=' }, title: 'a.pdf' },
      { type: 'text', text: 'Attachment "b.csv" (text/csv):\na,b' },
    ]);
  });
});

describe('reasoning_effort', () => {
  const thought = (effort: string, context: { model?: string; limit?: number } = {}, fields: object = {}) =>
    convertFields({ reasoning_effort: effort, ...fields }, { limit: 64_000, ...context });

  it.each([
    ['minimal', 1024],
    ['low', 2048],
    ['medium', 8192],
    ['high', 16_384],
    ['xhigh', 32_768],
  ])('converts %s to a budget of %d tokens', (effort, budget_tokens) => {
    expect(thought(effort)).toEqual({ thinking: { type: 'enabled', budget_tokens } });
  });

  it('leaves a fifth of the reply for the answer, and is dropped if the rest is too small', () => {
    expect(thought('high', { limit: 4096 })).toEqual({ thinking: { type: 'enabled', budget_tokens: 3276 } });
    expect(thought('high', { limit: 1200 })).toEqual({});
  });

  it.each([
    'claude-opus-4-6',
    'claude-sonnet-5',
    'claude-haiku-5-5',
    'claude-opus-4-8-20260505',
    'eu.anthropic.claude-sonnet-4-6-v1',
  ])('is an effort for %s', (model) => {
    expect(thought('high', { model })).toEqual({ thinking: { type: 'adaptive' }, output_config: { effort: 'high' } });
    expect(thought('minimal', { model })).toMatchObject({ output_config: { effort: 'low' } });
  });

  it.each(['claude-opus-4-5', 'claude-opus-4-20250514', 'claude-3-7-sonnet-latest', 'claude-sonnet-4-5-20250929', 'glm-5.2'])(
    'is a budget for %s',
    (model) => {
      expect(thought('low', { model })).toEqual({ thinking: { type: 'enabled', budget_tokens: 2048 } });
    },
  );

  it('preserves the other settings of the output', () => {
    const schema = { type: 'object' };
    const fields = { response_format: { type: 'json_schema', json_schema: { schema } } };
    expect(thought('low', { model: 'claude-opus-5' }, fields).output_config).toEqual({
      effort: 'low',
      format: { type: 'json_schema', schema },
    });
    expect(thought('low', { model: 'claude-opus-5' }, { output_config: { effort: 'max' } }).output_config).toEqual({
      effort: 'max',
    });
  });

  it("disables thinking for none, is ignored if unknown, and yields to the request's own thinking", () => {
    expect(thought('none')).toEqual({ thinking: { type: 'disabled' } });
    expect(thought('enormous')).toEqual({});
    expect(thought('low', {}, { thinking: { type: 'adaptive' } })).toEqual({ thinking: { type: 'adaptive' } });
  });

  it('removes the temperature', () => {
    expect(thought('low', {}, { temperature: 0.2, top_p: 0.4 })).toEqual({ thinking: { type: 'enabled', budget_tokens: 2048 } });
    expect(thought('none', {}, { temperature: 0.2 })).toMatchObject({ temperature: 0.2 });
  });

  const tools = [{ type: 'function', function: { name: 'f' } }];
  const calledTools = {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '' } }],
  };
  const result = { role: 'tool', tool_call_id: 'a', content: 'x' };
  const thinking_blocks = [{ type: 'thinking', thinking: 'hm', signature: 's' }];

  it('is dropped if a tool must be called', () => {
    expect(thought('low', {}, { tools, tool_choice: 'required' })).not.toHaveProperty('thinking');
    expect(thought('low', {}, { tools, tool_choice: 'auto' })).toHaveProperty('thinking');
  });

  it('requires the thoughts before the calls of the current turn, not those of earlier turns', () => {
    const getThinkingAfter = (...messages: object[]) => thought('low', {}, { tools, messages: [...hello, ...messages] });
    expect(getThinkingAfter(calledTools, result)).not.toHaveProperty('thinking');
    expect(getThinkingAfter({ ...calledTools, thinking_blocks }, result)).toHaveProperty('thinking');
    expect(getThinkingAfter(calledTools, result, { role: 'assistant', content: 'so' }, ...hello)).toHaveProperty('thinking');
  });
});

const question = { role: 'user' as const, content: 'Think, then call.' };
const thought = { type: 'thinking', thinking: 'The user asks\nfor "17 × 3". It is 51.', signature: 'EqQBCkYIBhgCKkAs==' };
const redacted = { type: 'redacted_thinking', data: 'EmwKAhgBEgy3va3pzix' };
const use = { type: 'tool_use', id: 'toolu_01C', name: 'get_weather', input: { city: 'Köln' } };
const result = { role: 'tool' as const, tool_call_id: 'toolu_01C', content: 'sunny' };

function sentBack(message: ChatRequest['messages'][number]) {
  const request: ChatRequest = { messages: [question, message, result], reasoning_effort: 'low' };
  return toMessagesRequest(request, { model: 'claude-haiku-4-5', maxCompletionTokens: 8000 });
}

describe('signed thoughts', () => {
  it('are returned to the model with the calls that followed them if Parley runs the tools', async () => {
    const { frames } = await translate([fixture('thinking-tools')]);
    const turn = new Turn();
    for (const frame of frames) for (const chunk of frame.chunks) turn.addChunk(chunk as unknown as Chunk);
    const { messages, thinking } = sentBack(turn.toMessage());
    expect(messages[1]).toEqual({ role: 'assistant', content: [thought, redacted, use] });
    expect(thinking).toEqual({ type: 'enabled', budget_tokens: 2048 });
  });

  it('are returned to the model if the client sends the complete message back', async () => {
    const { folded } = await translate([fixture('thinking-tools')]);
    const { message } = folded.choices[0] ?? {};
    expect(sentBack(message as ChatRequest['messages'][number]).messages[1]?.content).toEqual([thought, redacted, use]);
  });
});

const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const weather = { type: 'function', function: { name: 'weather', description: 'Of a city', parameters } };
const time = { type: 'function', function: { name: 'time' } };
const offered = {
  weather: { name: 'weather', description: 'Of a city', input_schema: parameters },
  time: { name: 'time', input_schema: { type: 'object' } },
};

function toolFields(fields: object, messages: MessageParam[] = []) {
  return toToolFields({ messages: [], ...fields }, messages);
}

describe('toToolFields', () => {
  it('offers functions with their schemas', () => {
    expect(toolFields({ tools: [weather, time] })).toEqual({ tools: [offered.weather, offered.time] });
  });

  it('adds the required type to every schema and preserves strictness and prompt cache breakpoints', () => {
    const cache_control = { type: 'ephemeral' };
    const strict = { type: 'function', cache_control, function: { name: 'x', strict: true, parameters: { properties: {} } } };
    expect(toolFields({ tools: [strict] }).tools).toEqual([
      { name: 'x', strict: true, input_schema: { type: 'object', properties: {} }, cache_control },
    ]);
  });

  it("passes the dialect's own tools", () => {
    const search = { type: 'web_search_20250305', name: 'web_search', max_uses: 2 };
    expect(toolFields({ tools: [search, null, 'x'] })).toEqual({ tools: [search] });
  });

  it.each([
    ['auto', { type: 'auto' }],
    ['none', { type: 'none' }],
    ['required', { type: 'any' }],
    [
      { type: 'function', function: { name: 'time' } },
      { type: 'tool', name: 'time' },
    ],
    [
      { type: 'tool', name: 'time' },
      { type: 'tool', name: 'time' },
    ],
    [undefined, undefined],
    [null, undefined],
    ['whatever', undefined],
    [{}, undefined],
  ])('converts the choice %j to %j', (tool_choice, expected) => {
    expect(toolFields({ tools: [time], tool_choice }).tool_choice).toEqual(expected);
  });

  it('removes tools that are not allowed', () => {
    const tool_choice = { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [time] } };
    expect(toolFields({ tools: [weather, time], tool_choice })).toEqual({ tools: [offered.time], tool_choice: { type: 'any' } });
  });

  it('disables parallel calls, unless no calls are allowed', () => {
    const one = { tools: [time], parallel_tool_calls: false };
    expect(toolFields(one).tool_choice).toEqual({ type: 'auto', disable_parallel_tool_use: true });
    expect(toolFields({ ...one, tool_choice: 'required' }).tool_choice).toEqual({ type: 'any', disable_parallel_tool_use: true });
    expect(toolFields({ ...one, tool_choice: 'none' }).tool_choice).toEqual({ type: 'none' });
    expect(toolFields({ tools: [time], parallel_tool_calls: true }).tool_choice).toBeUndefined();
  });

  it('omits the choice if there are no tools', () => {
    for (const tools of [undefined, null, [], 'x']) expect(toolFields({ tools, tool_choice: 'required' })).toEqual({});
  });

  it('offers the tools of earlier calls if no more calls are allowed', () => {
    const use = (name: string) => ({ type: 'tool_use', id: name, name, input: {} });
    const messages: MessageParam[] = [
      { role: 'user', content: 'x' },
      { role: 'assistant', content: [use('time'), use('weather'), use('time')] },
    ];
    expect(toolFields({ tool_choice: 'auto' }, messages)).toEqual({
      tools: [
        { name: 'time', input_schema: { type: 'object' } },
        { name: 'weather', input_schema: { type: 'object' } },
      ],
      tool_choice: { type: 'none' },
    });
  });
});
