import { LLMock } from '@copilotkit/aimock';
import OpenAI from 'openai';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { weatherTool } from '#test/mocked-service.ts';
import { callerKey, startService, type TestService } from '#test/start-service.ts';

const hello = 'Hello! Grüße, 你好 😀, from the mock.';
let mock: LLMock;
let service: TestService;

beforeAll(async () => {
  mock = new LLMock({ port: 0, host: '127.0.0.1', chunkSize: 4, strict: true });
  mock.on(
    { userMessage: /weather/i, hasToolResult: true },
    { content: 'It is sunny in Paris.', usage: { input_tokens: 9, output_tokens: 4 } },
  );
  mock.on(
    { userMessage: /weather/i, hasToolResult: false },
    {
      content: 'I look.',
      toolCalls: [
        { name: 'get_weather', arguments: '{"city":"Paris"}', id: 'toolu_1' },
        { name: 'get_weather', arguments: '{}', id: 'toolu_2' },
      ],
    },
  );
  mock.onMessage(/ponder/i, { content: '51', reasoning: 'It is 51, since 17 × 3.', reasoningSignature: 'signed' });
  mock.onMessage(/too fast/i, { error: { message: 'Slow down.', type: 'rate_limit_error' }, status: 429 });
  mock.onMessage(/too long/i, { error: { message: 'prompt is too long', type: 'invalid_request_error' }, status: 400 });
  mock.onMessage(/too large/i, { error: { message: 'Request too large', type: 'request_too_large' }, status: 413 });
  mock.onMessage(/no such/i, { error: { message: 'model: x', type: 'not_found_error' }, status: 404 });
  mock.onMessage(/wrong key/i, { error: { message: 'invalid x-api-key', type: 'authentication_error' }, status: 401 });
  mock.onMessage(/overloaded/i, { error: { message: 'Overloaded', type: 'overloaded_error' }, status: 529 });
  mock.onMessage(/broken/i, { error: { message: 'Internal server error', type: 'api_error' }, status: 500 });
  mock.onMessage(/hello/i, { content: hello, usage: { input_tokens: 11, output_tokens: 13 } });
  await mock.start();
  const upstreams = [{ protocol: 'anthropic', endpoint: `${mock.url}/v1`, key: 'upstream-key', model: 'claude-sonnet-4-5' }];
  service = await startService({ models: { claude: { upstreams, maxRetryAttempts: 1 } } });
});

afterEach(() => service.forgetFailures());

afterAll(async () => {
  await service.close();
  await mock.stop();
});

const client = () => new OpenAI({ apiKey: callerKey, baseURL: `${service.url}/v1`, maxRetries: 0 });
const createRequest = (content: string) => ({ model: 'claude', messages: [{ role: 'user' as const, content }] });

describe('OpenAI client with an anthropic upstream', () => {
  it('receives a JSON reply', async () => {
    const reply = await client().chat.completions.create(createRequest('hello'));
    expect(reply.choices).toEqual([{ index: 0, message: { role: 'assistant', content: hello }, finish_reason: 'stop' }]);
    expect(reply.usage).toMatchObject({ prompt_tokens: 11, completion_tokens: 13, total_tokens: 24 });
  });

  it('receives the same reply as a stream', async () => {
    const stream = client().chat.completions.stream({ ...createRequest('hello'), stream_options: { include_usage: true } });
    const reply = await stream.finalChatCompletion();
    expect(reply.choices[0]).toMatchObject({ message: { content: hello }, finish_reason: 'stop' });
    expect(reply.usage).toMatchObject({ prompt_tokens: 11, completion_tokens: 13, total_tokens: 24 });
  });

  it.each([false, true])('receives parallel tool calls and continues with their results (stream: %j)', async (stream) => {
    const first = { ...createRequest('What is the weather?'), tools: [weatherTool] };
    const complete = async (body: OpenAI.ChatCompletionCreateParamsNonStreaming) =>
      stream
        ? client()
            .chat.completions.stream({ ...body, stream: true })
            .finalChatCompletion()
        : client().chat.completions.create(body);
    const { message, finish_reason } = (await complete(first)).choices[0] ?? {};
    expect([message?.content, finish_reason]).toEqual(['I look.', 'tool_calls']);
    expect(message?.tool_calls).toMatchObject([
      { id: 'toolu_1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Paris"}' } },
      { id: 'toolu_2', type: 'function', function: { name: 'get_weather', arguments: '{}' } },
    ]);
    const results = ['toolu_1', 'toolu_2'].map((tool_call_id) => ({ role: 'tool' as const, tool_call_id, content: 'sunny' }));
    const second = await complete({ ...first, messages: [...first.messages, ...(message ? [message] : []), ...results] });
    expect(second.choices[0]?.message.content).toBe('It is sunny in Paris.');
  });

  it.each([false, true])('receives one function call for a request with functions (stream: %j)', async (stream) => {
    const body = { ...createRequest('weather'), functions: [weatherTool.function] };
    const reply = stream
      ? await client()
          .chat.completions.stream({ ...body, stream: true })
          .finalChatCompletion()
      : await client().chat.completions.create(body);
    expect(reply.choices[0]).toMatchObject({
      message: { function_call: { name: 'get_weather', arguments: '{"city":"Paris"}' } },
      finish_reason: 'function_call',
    });
  });

  it('receives several choices with their summed usage', async () => {
    const reply = await client().chat.completions.create({ ...createRequest('hello'), n: 3 });
    expect(reply.choices.map(({ index, message }) => [index, message.content])).toEqual([0, 1, 2].map((index) => [index, hello]));
    expect(reply.usage).toMatchObject({ prompt_tokens: 33, completion_tokens: 39, total_tokens: 72 });
  });

  it.each([false, true])('receives thoughts and can return them with their signature (stream: %j)', async (stream) => {
    const { completion } = await service.chat('claude', { ...createRequest('ponder 17 × 3'), stream: false, max_tokens: 9000 });
    const streamed = await (await service.stream('claude', createRequest('ponder 17 × 3'))).readRest();
    const thought = 'It is 51, since 17 × 3.';
    const blocks = [{ type: 'thinking', thinking: thought, signature: 'signed' }];
    const deltas = streamed.deltas();
    const received = stream
      ? {
          content: streamed.content(),
          reasoning_content: deltas.map(({ reasoning_content: text }) => text ?? '').join(''),
          thinking_blocks: deltas.flatMap(({ thinking_blocks: each }) => (each as object[] | undefined) ?? []),
        }
      : completion.choices[0]?.message;
    expect(received).toMatchObject({ content: '51', reasoning_content: thought, thinking_blocks: blocks });
    const tool_calls = [{ id: 't1', type: 'function', function: { name: 'get_weather', arguments: '{}' } }];
    const messages = [
      ...createRequest('hello').messages,
      { role: 'assistant', content: null, tool_calls, thinking_blocks: blocks },
      { role: 'tool', tool_call_id: 't1', content: 'x' },
    ];
    const thinking = { type: 'enabled', budget_tokens: 1024 };
    expect(await service.chat('claude', { messages, tools: [weatherTool], thinking })).toMatchObject({ status: 200 });
    const bare = messages.map(({ role, content, ...rest }) => ({ role, content, ...rest, thinking_blocks: undefined }));
    expect((await service.chat('claude', { messages: bare, tools: [weatherTool], thinking })).error.message).toMatch(/thinking/);
    expect(await service.chat('claude', { messages: bare, tools: [weatherTool], reasoning_effort: 'low' })).toMatchObject({
      status: 200,
    });
  });

  it.each([
    ['too long', 400, 'invalid_request_error', 'context_length_exceeded', /^prompt is too long$/],
    ['too large', 413, 'invalid_request_error', 'payload_too_large', /^Request too large$/],
    ['no such', 404, 'not_found_error', 'DeploymentNotFound', /^model: x$/],
    ['too fast', 429, 'rate_limit_error', 'upstream_rate_limited', /Slow down/],
    ['wrong key', 500, 'upstream_error', 'upstream_failed', /rejected the credentials/],
    ['overloaded', 503, 'server_overloaded', 'upstream_unavailable', /Overloaded/],
    ['broken', 500, 'upstream_error', 'upstream_failed', /Internal server error/],
  ])('receives an error for "%s" with the status %d', async (content, status, type, code, message) => {
    for (const stream of [false, true]) {
      service.forgetFailures();
      const answered = await service.chat('claude', { ...createRequest(content), stream });
      expect(answered.status).toBe(status);
      expect(answered.error).toMatchObject({ type, code });
      expect(answered.error.message).toMatch(message);
    }
  });

  it('receives 400 for content that the Messages API does not support', async () => {
    const content = [{ type: 'input_audio', input_audio: { data: 'x', format: 'wav' } }];
    const { status, error } = await service.chat('claude', { messages: [{ role: 'user', content }] });
    expect([status, error]).toEqual([
      400,
      {
        type: 'invalid_request_error',
        code: 'invalid_request',
        message: 'The upstream of this model does not accept a part of the type input_audio.',
        param: 'messages[0].content[0]',
      },
    ]);
  });
});
