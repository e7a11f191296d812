import OpenAI, { AzureOpenAI } from 'openai';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type MockedService, startMockedService, vector, weatherTool } from '#test/mocked-service.ts';
import { callerKey } from '#test/start-service.ts';

let mocked: MockedService;

beforeAll(async () => {
  mocked = await startMockedService();
});

afterEach(() => mocked.service.forgetFailures());

afterAll(() => mocked[Symbol.asyncDispose]());

const createOpenAI = (apiKey = callerKey) => new OpenAI({ apiKey, baseURL: `${mocked.service.url}/v1`, maxRetries: 0 });

const azure = (apiKey = callerKey) =>
  new AzureOpenAI({ apiKey, endpoint: mocked.service.url, apiVersion: '2024-10-21', maxRetries: 0 });

const clients = [
  ['OpenAI', () => createOpenAI()],
  ['AzureOpenAI', () => azure()],
  [
    'OpenAI on a path of a deployment',
    (model: string) =>
      new OpenAI({ apiKey: callerKey, baseURL: `${mocked.service.url}/openai/deployments/${model}`, maxRetries: 0 }),
  ],
] as const;

const createMessages = (content: string): OpenAI.ChatCompletionMessageParam[] => [{ role: 'user', content }];
const hello = 'Hello! Grüße, 你好 😀, from the mock.';

describe.each(clients)('%s', (_name, client) => {
  it.each(['gpt', 'azure'])('receives a JSON reply of %s', async (model) => {
    const reply = await client(model).chat.completions.create({ model, messages: createMessages('hello') });
    expect(reply.choices[0]).toMatchObject({ message: { role: 'assistant', content: hello }, finish_reason: 'stop' });
    expect(reply.usage).toMatchObject({ prompt_tokens: 11, completion_tokens: 13, total_tokens: 24 });
    expect(reply._request_id).toBeTypeOf('string');
  });

  it.each(['gpt', 'azure'])('receives a streamed reply of %s', async (model) => {
    const stream = await client(model).chat.completions.create({
      model,
      messages: createMessages('hello'),
      stream: true,
      stream_options: { include_usage: true },
    });
    let content = '';
    let usage: OpenAI.CompletionUsage | null | undefined;
    const reasons: string[] = [];
    for await (const chunk of stream) {
      content += chunk.choices[0]?.delta.content ?? '';
      usage = chunk.usage ?? usage;
      if (chunk.choices[0]?.finish_reason) reasons.push(chunk.choices[0].finish_reason);
    }
    expect([content, reasons, usage?.total_tokens]).toEqual([hello, ['stop'], 24]);
  });

  it('receives the complete reply through its stream helper', async () => {
    const stream = client('gpt').chat.completions.stream({ model: 'gpt', messages: createMessages('hello') });
    expect(await stream.finalContent()).toBe(hello);
    expect((await stream.totalUsage()).total_tokens).toBe(24);
  });

  it('calls tools and returns their results', async () => {
    const messages = createMessages('What is the weather in Paris?');
    const callCompletion = await client('gpt').chat.completions.create({ model: 'gpt', messages, tools: [weatherTool] });
    const message = callCompletion.choices[0]?.message ?? expect.unreachable();
    expect(callCompletion.choices[0]?.finish_reason).toBe('tool_calls');
    expect(message.tool_calls).toMatchObject([
      { id: 'call_weather', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Paris"}' } },
    ]);
    const secondCompletion = await client('gpt').chat.completions.create({
      model: 'gpt',
      messages: [...messages, message, { role: 'tool', tool_call_id: 'call_weather', content: 'sunny' }],
      tools: [weatherTool],
    });
    expect(secondCompletion.choices[0]?.message.content).toBe('It is sunny in Paris.');
  });

  it('streams tool calls', async () => {
    const stream = client('gpt').chat.completions.stream({
      model: 'gpt',
      messages: createMessages('weather?'),
      tools: [weatherTool],
    });
    const message = await stream.finalMessage();
    expect(message.tool_calls).toMatchObject([
      { id: 'call_weather', function: { name: 'get_weather', arguments: '{"city":"Paris"}' } },
    ]);
  });

  it('runs tools automatically', async () => {
    const cities: string[] = [];
    const run = client('gpt').chat.completions.runTools({
      model: 'gpt',
      messages: createMessages('weather?'),
      tools: [
        {
          type: 'function',
          function: {
            ...weatherTool.function,
            parse: (text: string) => JSON.parse(text) as { city: string },
            function: ({ city }: { city: string }) => {
              cities.push(city);
              return 'sunny';
            },
          },
        },
      ],
    });
    expect(await run.finalContent()).toBe('It is sunny in Paris.');
    expect(cities).toEqual(['Paris']);
  });

  it('streams from the demo deployment', async () => {
    const stream = client('demo').chat.completions.stream({ model: 'demo', messages: createMessages('Count to 20') });
    expect(await stream.finalContent()).toBe(Array.from({ length: 20 }, (_, index) => index + 1).join(' '));
  });

  it.each([
    ['too long', 400, OpenAI.BadRequestError, 'context_length_exceeded'],
    ['too fast', 429, OpenAI.RateLimitError, 'upstream_rate_limited'],
    ['overloaded', 503, OpenAI.InternalServerError, 'upstream_unavailable'],
    ['broken', 500, OpenAI.InternalServerError, 'upstream_failed'],
  ])('throws the error class for "%s", streamed or not', async (content, status, kind, code) => {
    for (const stream of [false, true]) {
      mocked.service.forgetFailures();
      const error = await Promise.resolve(
        client('gpt').chat.completions.create({ model: 'gpt', messages: createMessages(content), stream }),
      ).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(kind);
      expect(error).toMatchObject({ status, code });
    }
  });

  it('throws the error class for an invalid request', async () => {
    const error = await client('gpt')
      .chat.completions.create({ model: 'gpt', messages: createMessages('hello'), temperature: 3 })
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(OpenAI.BadRequestError);
    expect(error).toMatchObject({ param: 'temperature', code: 'invalid_request', type: 'invalid_request_error' });
  });

  it('throws the error classes for access errors', async () => {
    const denied = await client('staff')
      .chat.completions.create({ model: 'staff', messages: createMessages('hello') })
      .catch((thrown: unknown) => thrown);
    expect(denied).toBeInstanceOf(OpenAI.PermissionDeniedError);
    const missing = await client('none')
      .chat.completions.create({ model: 'none', messages: createMessages('hello') })
      .catch((thrown: unknown) => thrown);
    expect(missing).toBeInstanceOf(OpenAI.NotFoundError);
  });

  it('aborts a stream', async () => {
    const stream = await client('demo').chat.completions.create({
      model: 'demo',
      messages: createMessages('Count to 1000'),
      stream: true,
    });
    for await (const _chunk of stream) break;
    await expect.poll(() => mocked.service.inFlightCalls.size, { interval: 5 }).toBe(0);
  });

  it('receives embeddings', async () => {
    for (const encoding_format of ['float', 'base64'] as const) {
      const reply = await client('demo-vectors').embeddings.create({
        model: 'demo-vectors',
        input: ['a cat', 'a dog'],
        encoding_format,
      });
      expect(reply.data.map(({ index }) => index)).toEqual([0, 1]);
    }
    const plain = await client('demo-vectors').embeddings.create({ model: 'demo-vectors', input: 'a cat', dimensions: 8 });
    expect(plain.data[0]?.embedding).toHaveLength(8);
    const mockedReply = await client('vectors').embeddings.create({
      model: 'vectors',
      input: 'anything',
      encoding_format: 'float',
    });
    expect(mockedReply.data[0]?.embedding).toEqual(vector);
  });
});

describe('client with a wrong key', () => {
  it.each([
    ['OpenAI', createOpenAI],
    ['AzureOpenAI', azure],
  ] as const)('of %s throws an authentication error', async (_name, client) => {
    const error = await client('unknown')
      .chat.completions.create({ model: 'gpt', messages: createMessages('hello') })
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(OpenAI.AuthenticationError);
    expect(error).toMatchObject({ code: 'invalid_api_key' });
  });
});

describe('models.list', () => {
  it.each([
    ['OpenAI', createOpenAI],
    ['AzureOpenAI', azure],
  ] as const)('of %s lists the permitted models', async (_name, client) => {
    const ids: string[] = [];
    for await (const { id } of client().models.list()) ids.push(id);
    expect(ids.sort()).toEqual(['azure', 'demo', 'demo-vectors', 'gpt', 'vectors']);
  });

  it('of OpenAI retrieves a model', async () => {
    expect(await createOpenAI().models.retrieve('gpt')).toMatchObject({ id: 'gpt', object: 'model' });
    await expect(createOpenAI().models.retrieve('staff')).rejects.toBeInstanceOf(OpenAI.PermissionDeniedError);
  });
});

describe('client retry', () => {
  it('uses Retry-After and succeeds', async () => {
    mocked.mock.nextRequestError(503, { message: 'Busy.' });
    const client = new OpenAI({ apiKey: callerKey, baseURL: `${mocked.service.url}/v1`, maxRetries: 2 });
    const reply = await client.chat.completions.create({ model: 'gpt', messages: createMessages('hello') });
    expect(reply.choices[0]?.message.content).toBe(hello);
  });
});
