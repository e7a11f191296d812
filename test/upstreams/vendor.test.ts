import { LLMock } from '@copilotkit/aimock';
import OpenAI from 'openai';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { weatherTool } from '#test/mocked-service.ts';
import { callerKey, startService, type TestService } from '#test/start-service.ts';

const hello = 'Hello! Grüße, 你好 😀, from the mock.';
const usage = { promptTokenCount: 11, candidatesTokenCount: 13, input_tokens: 11, output_tokens: 13 };
const vendors = ['gemini', 'vertex', 'bedrock', 'mistral'] as const;
type Vendor = (typeof vendors)[number];
let mock: LLMock;
let service: TestService;

beforeAll(async () => {
  mock = new LLMock({ port: 0, host: '127.0.0.1', chunkSize: 4, strict: true });
  mock.on({ userMessage: /weather/i, hasToolResult: true }, { content: 'It is sunny in Paris.' });
  mock.on(
    { userMessage: /weather/i, hasToolResult: false },
    {
      toolCalls: [
        { name: 'get_weather', arguments: '{"city":"Paris"}', id: 'callAAAA1' },
        { name: 'get_weather', arguments: '{}', id: 'callAAAA2' },
      ],
    },
  );
  mock.onMessage(/ponder/i, { content: '51', reasoning: 'It is 51, since 17 × 3.' });
  mock.onMessage(/too fast/i, { error: { message: 'Slow down.' }, status: 429, retryAfter: 17 });
  mock.onMessage(/too long/i, { error: { message: 'The prompt is too long.', type: 'invalid' }, status: 400 });
  mock.onMessage(/no such/i, { error: { message: 'No such model.' }, status: 404 });
  mock.onMessage(/wrong key/i, { error: { message: 'Denied.' }, status: 403 });
  mock.onMessage(/overloaded/i, { error: { message: 'Busy.' }, status: 503 });
  mock.onMessage(/broken/i, { error: { message: 'Oops.' }, status: 500 });
  mock.onMessage(/forbidden words/i, { content: '', finishReason: 'content_filter' });
  mock.onMessage(/hello/i, { content: hello, usage });
  mock.onEmbedding(/.*/, { embedding: [0.25, -0.5, 0.75] });
  await mock.start();
  const upstream = {
    gemini: { protocol: 'gemini', endpoint: `${mock.url}/v1beta`, key: 'gemini-key', model: 'gemini-2.5-flash' },
    vertex: {
      protocol: 'vertex',
      endpoint: `${mock.url}/v1/projects/p/locations/l/publishers/google`,
      key: 'vertex-key',
      model: 'gemini-2.5-flash',
    },
    bedrock: {
      protocol: 'bedrock',
      endpoint: mock.url,
      region: 'eu-central-1',
      key: 'AKIAIOSFODNN7EXAMPLE:the-secret',
      model: 'anthropic.claude-sonnet-4-5-20250929-v1:0',
    },
    mistral: { protocol: 'mistral', endpoint: `${mock.url}/v1`, key: 'mistral-key', model: 'magistral-small' },
  };
  const toModel = (vendor: Vendor) => [vendor, { upstreams: [upstream[vendor]], maxRetryAttempts: 1 }];
  const toVectors = (vendor: Vendor) => [`${vendor}-vectors`, { type: 'embedding', upstreams: [upstream[vendor]] }];
  const models = Object.fromEntries([...vendors.map(toModel), ...vendors.map(toVectors)]);
  service = await startService({ models });
});

afterEach(() => service.forgetFailures());

afterAll(async () => {
  await service.close();
  await mock.stop();
});

const client = () => new OpenAI({ apiKey: callerKey, baseURL: `${service.url}/v1`, maxRetries: 0 });

describe.each(vendors)('OpenAI client with a %s upstream', (model) => {
  const createRequest = (content: string) => ({ model, messages: [{ role: 'user' as const, content }] });
  const complete = async (body: OpenAI.ChatCompletionCreateParamsNonStreaming, stream: boolean) =>
    stream
      ? client()
          .chat.completions.stream({ ...body, stream: true, stream_options: { include_usage: true } })
          .finalChatCompletion()
      : client().chat.completions.create(body);

  it.each([false, true])('receives a reply (stream: %j)', async (stream) => {
    const reply = await complete(createRequest('hello'), stream);
    expect(reply.choices[0]).toMatchObject({ message: { role: 'assistant', content: hello }, finish_reason: 'stop' });
  });

  it.each([false, true])('receives parallel tool calls and continues with their results (stream: %j)', async (stream) => {
    const first = { ...createRequest('What is the weather?'), tools: [weatherTool] };
    const { message, finish_reason } = (await complete(first, stream)).choices[0] ?? {};
    expect(finish_reason).toBe('tool_calls');
    const expectedCall = { type: 'function', function: { name: 'get_weather' } };
    expect(message?.tool_calls).toMatchObject([expectedCall, expectedCall]);
    expect(message?.tool_calls?.map((call) => call.type === 'function' && JSON.parse(call.function.arguments))).toEqual([
      { city: 'Paris' },
      {},
    ]);
    const ids = message?.tool_calls?.map(({ id }) => id) ?? [];
    expect(new Set(ids).size).toBe(2);
    const results = ids.map((tool_call_id) => ({ role: 'tool' as const, tool_call_id, content: 'sunny' }));
    const second = { ...first, messages: [...first.messages, ...(message ? [message] : []), ...results] };
    expect((await complete(second, stream)).choices[0]?.message.content).toBe('It is sunny in Paris.');
  });

  it.each([false, true])('receives one function call for a request with functions (stream: %j)', async (stream) => {
    const reply = await complete({ ...createRequest('weather'), functions: [weatherTool.function] }, stream);
    expect(reply.choices[0]).toMatchObject({
      message: { function_call: { name: 'get_weather', arguments: '{"city":"Paris"}' } },
      finish_reason: 'function_call',
    });
  });

  it('receives several choices', async () => {
    const reply = await complete({ ...createRequest('hello'), n: 3 }, false);
    expect(reply.choices.map(({ index, message }) => [index, message.content])).toEqual([0, 1, 2].map((index) => [index, hello]));
  });

  it.each([
    ['too long', 400, 'invalid_request_error', /too long/],
    ['no such', 404, 'not_found_error', /No such model/],
    ['too fast', 429, 'rate_limit_error', /Slow down/],
    ['wrong key', 500, 'upstream_error', /rejected the credentials/],
    ['overloaded', 503, 'server_overloaded', /Busy/],
    ['broken', 500, 'upstream_error', /Oops/],
  ])('receives an error for "%s" with the status %d', async (content, status, type, message) => {
    for (const stream of [false, true]) {
      service.forgetFailures();
      const answered = await service.chat(model, { ...createRequest(content), stream });
      expect(answered.status).toBe(status);
      expect(answered.error).toMatchObject({ type });
      expect(answered.error.message).toMatch(message);
      if (status === 429) expect(answered.headers['retry-after']).toBe('17');
    }
  });
});

describe.each(['gemini', 'mistral'] as const)('embeddings from a %s upstream', (model) => {
  it('are returned as vectors of numbers', async () => {
    const reply = await client().embeddings.create({ model: `${model}-vectors`, input: 'hello' });
    expect(reply.data).toEqual([{ object: 'embedding', index: 0, embedding: [0.25, -0.5, 0.75] }]);
  });
});

describe.each(['gemini', 'vertex', 'bedrock'] as const)('reply of %s', (model) => {
  const createRequest = (content: string) => ({ messages: [{ role: 'user' as const, content }], max_tokens: 9000 });

  it('has the usage, summed over its choices', async () => {
    for (const n of [1, 3]) {
      const { completion } = await service.chat(model, { ...createRequest('hello'), n });
      expect(completion.usage).toMatchObject({ prompt_tokens: 11 * n, completion_tokens: 13 * n, total_tokens: 24 * n });
    }
  });

  it.each([false, true])('has thoughts next to the answer (stream: %j)', async (stream) => {
    const body = createRequest('ponder 17 × 3');
    const thought = 'It is 51, since 17 × 3.';
    if (!stream) {
      const { completion } = await service.chat(model, body);
      expect(completion.choices[0]?.message).toMatchObject({ content: '51', reasoning_content: thought });
      return;
    }
    const { content, deltas } = await (await service.stream(model, body)).readRest();
    expect([
      content(),
      deltas()
        .map(({ reasoning_content: text }) => text ?? '')
        .join(''),
    ]).toEqual(['51', thought]);
  });

  it('has the finish reason content_filter after a safety stop', async () => {
    const { completion } = await service.chat(model, createRequest('forbidden words'));
    expect(completion.choices[0]?.finish_reason).toBe('content_filter');
  });
});
