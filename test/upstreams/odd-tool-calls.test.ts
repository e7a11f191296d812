import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { chunk, delta, finish, plainCompletion, text, usage } from '#test/chunks.ts';
import { allowNonconformingUpstreams } from '#test/described-answers.ts';
import { eventsReply, jsonReply, type Reply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { callerKey, startService, type TestService } from '#test/start-service.ts';
import { quickApp } from '../quick-apps/support.ts';

allowNonconformingUpstreams();

let upstream: ScriptedUpstream;
let api: ScriptedUpstream;
let service: TestService;

const names = ['get_weather', 'get_time'];

beforeAll(async () => {
  [upstream, api] = await Promise.all([startScriptedUpstream(), startScriptedUpstream()]);
  api.script(({ received, response }) => void response.end(received.path));
  const tools = names.map((name) => ({
    rest_api_method_info: { method_url: `${api.url}/${name}`, method_type: 'get' },
    open_ai_tool: {
      type: 'function',
      function: { name, description: name, parameters: { type: 'object', properties: { city: { type: 'string' } } } },
    },
  }));
  service = await startService({
    models: { model: { upstreams: [{ endpoint: upstream.endpoint }], maxRetryAttempts: 1 } },
    security: { allowPrivateNetworks: ['127.0.0.1'] },
    applications: { app: quickApp({ web_api_toolset: [{ type: 'rest-api', name: 'API', tools }] }) },
  });
});

afterEach(() => service.forgetFailures());

afterAll(async () => {
  await service.close();
  await Promise.all([upstream.close(), api.close()]);
});

/** Reply in a format that does not depend on the client. */
interface ReadReply {
  readonly text: string;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly args: unknown }[];
  readonly reason: string | null | undefined;
}

type Client = () => Promise<ReadReply>;

const parameters = { type: 'object' as const, properties: { city: { type: 'string' } } };
const question = { role: 'user' as const, content: 'How is Oslo?' };

const openai = () => new OpenAI({ apiKey: callerKey, baseURL: `${service.url}/v1`, maxRetries: 0 });
const anthropic = () => new Anthropic({ apiKey: callerKey, baseURL: `${service.url}/anthropic`, maxRetries: 0 });
const chatRequest = {
  model: 'model',
  messages: [question],
  tools: names.map((name) => ({ type: 'function' as const, function: { name, parameters } })),
};
const messagesRequest = {
  model: 'model',
  max_tokens: 100,
  messages: [question],
  tools: names.map((name) => ({ name, input_schema: parameters })),
};
const responsesRequest = {
  model: 'model',
  input: [question],
  store: false,
  tools: names.map((name) => ({ type: 'function' as const, name, parameters, strict: false })),
};

function readCompletion({ choices: [choice] }: OpenAI.Chat.ChatCompletion): ReadReply {
  const calls = (choice?.message.tool_calls ?? []) as OpenAI.Chat.ChatCompletionMessageFunctionToolCall[];
  return {
    text: choice?.message.content ?? '',
    calls: calls.map(({ id, function: { name, arguments: args } }) => ({ id, name, args: JSON.parse(args) })),
    reason: choice?.finish_reason,
  };
}

const chatReasons: Readonly<Record<string, string>> = { end_turn: 'stop', tool_use: 'tool_calls' };

function readMessage({ content, stop_reason: reason }: Anthropic.Message): ReadReply {
  return {
    text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
    calls: content.flatMap((block) => (block.type === 'tool_use' ? [{ id: block.id, name: block.name, args: block.input }] : [])),
    reason: chatReasons[reason ?? ''],
  };
}

function readResponse({ output, output_text: outputText, status }: OpenAI.Responses.Response): ReadReply {
  const calls = output.flatMap((item) =>
    item.type === 'function_call' ? [{ id: item.call_id, name: item.name, args: JSON.parse(item.arguments) }] : [],
  );
  const reason = calls.length > 0 ? 'tool_calls' : 'stop';
  return { text: outputText, calls, reason: status === 'completed' ? reason : status };
}

const clients: Readonly<Record<string, Client>> = {
  'chat JSON': async () => readCompletion(await openai().chat.completions.create(chatRequest)),
  'chat stream': async () => readCompletion(await openai().chat.completions.stream(chatRequest).finalChatCompletion()),
  'messages JSON': async () => readMessage(await anthropic().messages.create(messagesRequest)),
  'messages stream': async () => readMessage(await anthropic().messages.stream(messagesRequest).finalMessage()),
  'responses JSON': async () => readResponse(await openai().responses.create(responsesRequest)),
  'responses stream': async () => readResponse(await openai().responses.stream(responsesRequest).finalResponse()),
};

interface Part {
  readonly [key: string]: unknown;
}

/** Replies to every request with the calls, as a stream with one event per call or as one JSON document. */
function createCallsReply(calls: readonly Part[], reason: string): Reply {
  const events = eventsReply(
    delta({ role: 'assistant', content: null }),
    ...calls.map((call) => delta({ tool_calls: [call] as never })),
    finish(reason as never),
    usage(1, 1),
  );
  const message = { role: 'assistant', content: null, tool_calls: calls };
  const completeReply = jsonReply(plainCompletion('', { choices: [{ index: 0, message, finish_reason: reason }] }));
  return (exchange) => (exchange.received.body.stream === true ? events(exchange) : completeReply(exchange));
}

function createTextReply(reason: string): Reply {
  const between = chunk({ choices: [{ index: 0, delta: { content: 'wind' }, finish_reason: '' as never }] });
  const events = eventsReply(delta({ role: 'assistant' }), text('No '), between, finish(reason as never), usage(1, 1));
  const message = { role: 'assistant', content: 'No wind' };
  const completeReply = jsonReply(plainCompletion('', { choices: [{ index: 0, message, finish_reason: reason }] }));
  return (exchange) => (exchange.received.body.stream === true ? events(exchange) : completeReply(exchange));
}

const weather = { name: 'get_weather', arguments: '{"city":"Oslo"}' };
const time = { name: 'get_time', arguments: '{"city":"Rome"}' };
const both = [
  { name: 'get_weather', args: { city: 'Oslo' } },
  { name: 'get_time', args: { city: 'Rome' } },
];
const first = { id: 'call_a', type: 'function', function: weather };
const second = { id: 'call_b', type: 'function', function: time };

const call = (fields: Part, index: number) => delta({ tool_calls: [{ index, ...fields }] as never });

const oddCalls: readonly (readonly [string, readonly Part[], typeof both])[] = [
  [
    'that all have the index 0',
    [
      { index: 0, ...first },
      { index: 0, ...second },
    ],
    both,
  ],
  ['that have no index', [first, second], both],
  [
    'without an index and an ID',
    [
      { type: 'function', function: weather },
      { type: 'function', function: time },
    ],
    both,
  ],
  [
    'with equal IDs',
    [
      { index: 0, ...first },
      { index: 1, ...second, id: 'call_a' },
    ],
    both,
  ],
  ['with equal IDs and no index', [first, { ...second, id: 'call_a' }], both],
  [
    'with equal IDs and names and the index 0',
    [
      { index: 0, ...first },
      { index: 0, ...first, function: { ...weather, arguments: time.arguments } },
    ],
    [both[0], { name: 'get_weather', args: { city: 'Rome' } }] as typeof both,
  ],
  [
    'whose indexes start at 1 and have a gap',
    [
      { index: 1, ...first },
      { index: 3, ...second },
    ],
    both,
  ],
  [
    'whose arguments are an object',
    [{ index: 0, ...first, function: { name: 'get_weather', arguments: { city: 'Oslo' } } }],
    both.slice(0, 1),
  ],
  ['that end with the reason stop', [{ index: 0, ...first }], both.slice(0, 1)],
];

describe.each(Object.entries(clients))('the reply to a client of %s', (_surface, read) => {
  it.each(oddCalls)('has each call once, in order, for calls %s', async (what, calls, expected) => {
    upstream.script(createCallsReply(calls, what.includes('stop') ? 'stop' : 'tool_calls'));
    const reply = await read();
    expect(reply.calls.map(({ name, args }) => ({ name, args }))).toEqual(expected);
    expect(reply.reason).toBe('tool_calls');
    expect(new Set(reply.calls.map(({ id }) => id)).size).toBe(expected.length);
    expect(reply.calls.every(({ id }) => /^[\w-]{1,40}$/.test(id))).toBe(true);
  });

  it.each([
    ['before and after the finish reason stop', [call(first, 0), finish('stop'), call(second, 1)], both],
    ['after the finish reason stop', [finish('stop'), call(first, 0)], both.slice(0, 1)],
    ['after the finish reason tool_calls', [finish('tool_calls'), call(first, 0)], both.slice(0, 1)],
    ['and no finish reason', [call(first, 0)], both.slice(0, 1)],
  ] as const)('ends with tool_calls for a stream with a call %s', async (_what, events, expected) => {
    upstream.script(eventsReply(delta({ role: 'assistant', content: null }), ...events, usage(1, 1)));
    const reply = await read();
    expect(reply.calls.map(({ name, args }) => ({ name, args }))).toEqual(expected);
    expect(reply.reason).toBe('tool_calls');
  });

  it.each(['tool_calls', 'function_call', '', 'eos'])('ends with stop for text that ends with %j', async (reason) => {
    upstream.script(createTextReply(reason));
    expect(await read()).toEqual({ text: 'No wind', calls: [], reason: 'stop' });
  });
});

describe('a message of the messages surface', () => {
  it.each([[[finish('stop')]], [[]]])(
    'ends with tool_use after a tool call, regardless of the upstream finish reason: %#',
    async (ending) => {
      upstream.script(eventsReply(delta({ role: 'assistant', content: '' }), call(first, 0), ...ending));
      expect((await anthropic().messages.stream(messagesRequest).finalMessage()).stop_reason).toBe('tool_use');
    },
  );
});

describe('a stream of the chat surface', () => {
  it('replaces an empty finish reason in the middle with null', async () => {
    upstream.script(createTextReply('stop'));
    const stream = await openai().chat.completions.create({ ...chatRequest, stream: true });
    const reasons: unknown[] = [];
    for await (const { choices } of stream) reasons.push(...choices.map(({ finish_reason: reason }) => reason));
    expect(reasons.filter((reason) => reason !== null)).toEqual(['stop']);
  });
});

describe('a quick app', () => {
  const chat = () => service.chat('app', { messages: [question] });

  it.each(oddCalls)('runs each call once and gives each its result, for calls %s', async (what, calls, expected) => {
    const [count, apiCount] = [upstream.requests.length, api.requests.length];
    upstream.script(createCallsReply(calls, what.includes('stop') ? 'stop' : 'tool_calls'), createTextReply('stop'));
    const { status } = await chat();
    expect(status).toBe(200);
    const paths = api.requests.slice(apiCount).map(({ path }) => path);
    expect(paths.toSorted()).toEqual(expected.map(({ name, args }) => `/${name}?city=${args.city}`).toSorted());
    expect(upstream.requests.length - count).toBe(2);
    const messages = upstream.requests.at(-1)?.body.messages as { tool_call_id?: string; content: string }[];
    const results = messages.slice(-expected.length);
    expect(new Set(results.map(({ tool_call_id: id }) => id)).size).toBe(expected.length);
  });

  it('ends with the text of a reply that has no calls but ends with tool_calls', async () => {
    const count = upstream.requests.length;
    upstream.script(createTextReply('tool_calls'));
    expect(await chat()).toMatchObject({ status: 200 });
    expect(upstream.requests.length - count).toBe(1);
  });
});

describe('results of calls whose ids Parley made unique', () => {
  it('reach the upstream with the ids of their calls', async () => {
    upstream.script(
      createCallsReply(
        [
          { index: 0, ...first },
          { index: 1, ...second, id: 'call_a' },
        ],
        'tool_calls',
      ),
      createTextReply('stop'),
    );
    const response = await openai().responses.create(responsesRequest);
    const calls = response.output.filter((item) => item.type === 'function_call');
    const outputs = calls.map(({ call_id }) => ({ type: 'function_call_output' as const, call_id, output: `of ${call_id}` }));
    await openai().responses.create({ ...responsesRequest, input: [question, ...calls, ...outputs] });
    const messages = upstream.requests.at(-1)?.body.messages as OpenAI.Chat.ChatCompletionMessageParam[];
    const sent = messages.flatMap((message) => (message.role === 'assistant' ? (message.tool_calls ?? []) : []));
    const results = messages.filter((message) => message.role === 'tool');
    expect(sent.map(({ id }) => id)).toEqual(calls.map(({ call_id }) => call_id));
    expect(results.map(({ tool_call_id: id, content }) => [id, content])).toEqual(sent.map(({ id }) => [id, `of ${id}`]));
  });
});

describe('a call with an ID that occurs earlier in the conversation', () => {
  const earlier = { id: 'call_a', type: 'function' as const, function: weather };
  const chat = [
    ...[question, { role: 'assistant' as const, content: null, tool_calls: [earlier] }],
    { role: 'tool' as const, tool_call_id: 'call_a', content: 'windy' },
  ];
  const messages: Anthropic.MessageParam[] = [
    question,
    { role: 'assistant', content: [{ type: 'tool_use', id: 'call_a', name: 'get_weather', input: { city: 'Oslo' } }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_a', content: 'windy' }] },
  ];
  const input: OpenAI.Responses.ResponseInput = [
    question,
    { type: 'function_call', call_id: 'call_a', ...weather },
    { type: 'function_call_output', call_id: 'call_a', output: 'windy' },
  ];
  const later: Readonly<Record<string, Client>> = {
    'chat JSON': async () => readCompletion(await openai().chat.completions.create({ ...chatRequest, messages: chat })),
    'chat stream': async () =>
      readCompletion(
        await openai()
          .chat.completions.stream({ ...chatRequest, messages: chat })
          .finalChatCompletion(),
      ),
    'messages JSON': async () => readMessage(await anthropic().messages.create({ ...messagesRequest, messages })),
    'messages stream': async () =>
      readMessage(
        await anthropic()
          .messages.stream({ ...messagesRequest, messages })
          .finalMessage(),
      ),
    'responses JSON': async () => readResponse(await openai().responses.create({ ...responsesRequest, input })),
    'responses stream': async () =>
      readResponse(
        await openai()
          .responses.stream({ ...responsesRequest, input })
          .finalResponse(),
      ),
  };

  // Claude Code drops a call whose ID it has seen, so the model repeats the call without end.
  it.each(Object.entries(later))('receives another ID: %s', async (_surface, read) => {
    upstream.script(createCallsReply([{ index: 0, ...first }], 'tool_calls'));
    const { calls } = await read();
    expect(calls).toMatchObject([{ id: expect.stringMatching(/^call_[a-z0-9]{8,}_0$/i), ...both[0] }]);
  });
});

describe('tool_choice that limits the calls', () => {
  const allowed = (mode: 'auto' | 'required', name: string) => ({
    type: 'allowed_tools' as const,
    allowed_tools: { mode, tools: [{ type: 'function', function: { name } }] },
  });
  const errorMessage = 'The model called the tool "get_weather", which tool_choice of the request does not allow.';
  const chat = (limit: object): Readonly<Record<string, Client>> => ({
    JSON: async () => readCompletion(await openai().chat.completions.create({ ...chatRequest, ...limit })),
    stream: async () =>
      readCompletion(
        await openai()
          .chat.completions.stream({ ...chatRequest, ...limit })
          .finalChatCompletion(),
      ),
  });
  const calling = (calls: readonly Part[], content: string | null): Reply => {
    const events = eventsReply(
      delta({ role: 'assistant', content }),
      ...calls.flatMap(({ function: apiCount, ...rest }, index) => [
        delta({ tool_calls: [{ index, ...rest, function: { ...(apiCount as object), arguments: '' } }] as never }),
        delta({ tool_calls: [{ index, function: { arguments: (apiCount as { arguments: string }).arguments } }] as never }),
      ]),
      finish('tool_calls'),
      usage(1, 1),
    );
    const message = { role: 'assistant', content, tool_calls: calls };
    const completeReply = jsonReply(plainCompletion('', { choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }));
    return (exchange) => (exchange.received.body.stream === true ? events(exchange) : completeReply(exchange));
  };

  describe.each(['JSON', 'stream'])('(%s)', (form) => {
    it.each(['auto', 'required'] as const)('suppresses a call outside of allowed_tools: %s', async (mode) => {
      upstream.script(calling([first, second], null));
      const reply = await chat({ tool_choice: allowed(mode, 'get_time') })[form]?.();
      expect(reply).toMatchObject({ calls: [{ id: 'call_b', ...both[1] }], reason: 'tool_calls' });
    });

    it('suppresses only the first of two calls without IDs that both have the index 0', async () => {
      upstream.script(
        createCallsReply(
          [first, second].map(({ id: _id, ...fields }) => ({ ...fields, index: 0 })),
          'tool_calls',
        ),
      );
      const reply = await chat({ tool_choice: allowed('auto', 'get_time') })[form]?.();
      expect(reply).toMatchObject({ calls: [both[1]], reason: 'tool_calls' });
    });

    it.each([
      ['none', { tool_choice: 'none' }],
      ['allowed_tools', { tool_choice: allowed('auto', 'get_time') }],
    ])('keeps the text if no call remains: %s', async (_choice, limit) => {
      upstream.script(calling([first], 'Windy.'));
      expect(await chat(limit)[form]?.()).toEqual({ text: 'Windy.', calls: [], reason: 'stop' });
    });

    it.each([
      ['none', { tool_choice: 'none' }],
      ['allowed_tools', { tool_choice: allowed('required', 'get_time') }],
    ])('fails the reply if no text and no call remains: %s', async (_choice, limit) => {
      upstream.script(calling([first], null));
      await expect(chat(limit)[form]?.()).rejects.toThrow(errorMessage);
    });

    it('suppresses a function call with function_call none', async () => {
      const { name, ...rest } = weather;
      const apiCount = { role: 'assistant', content: 'Windy.', function_call: { name, ...rest } };
      const completeReply = jsonReply(
        plainCompletion('', { choices: [{ index: 0, message: apiCount, finish_reason: 'function_call' }] }),
      );
      const events = eventsReply(delta(apiCount as never), delta({ function_call: { arguments: ' ' } }), finish('function_call'));
      upstream.script((exchange) => (exchange.received.body.stream === true ? events : completeReply)(exchange));
      const body = { messages: [question], functions: [{ name, parameters }], function_call: 'none', stream: form === 'stream' };
      const { text } = await service.chat('model', body);
      expect(text).toContain('Windy.');
      expect(text).toContain('"finish_reason":"stop"');
      expect(text).not.toContain('function_call');
    });
  });

  it('suppresses a call on the messages surface', async () => {
    upstream.script(calling([first], 'Windy.'));
    const message = await anthropic().messages.create({ ...messagesRequest, tool_choice: { type: 'none' } });
    expect(readMessage(message)).toEqual({ text: 'Windy.', calls: [], reason: 'stop' });
  });
});
