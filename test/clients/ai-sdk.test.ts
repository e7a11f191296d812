import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { APICallError, embedMany, generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type MockedService, startMockedService, vector, weatherTool } from '#test/mocked-service.ts';
import { callerKey } from '#test/start-service.ts';

let mocked: MockedService;

beforeAll(async () => {
  mocked = await startMockedService();
});

afterEach(() => mocked.service.forgetFailures());

afterAll(() => mocked[Symbol.asyncDispose]());

function provider(apiKey = callerKey) {
  return createOpenAICompatible({ name: 'parley', apiKey, baseURL: `${mocked.service.url}/v1`, includeUsage: true });
}

const hello = 'Hello! Grüße, 你好 😀, from the mock.';
const tools = {
  get_weather: tool({
    description: weatherTool.function.description,
    inputSchema: jsonSchema<{ city: string }>({ type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }),
    execute: async ({ city }) => `sunny in ${city}`,
  }),
};

describe('AI SDK', () => {
  it.each(['gpt', 'azure'])('generates text with %s', async (model) => {
    const { text, usage, finishReason } = await generateText({
      model: provider().chatModel(model),
      prompt: 'hello',
      maxRetries: 0,
    });
    expect([text, finishReason]).toEqual([hello, 'stop']);
    expect(usage).toMatchObject({ inputTokens: 11, outputTokens: 13, totalTokens: 24 });
  });

  it('streams text', async () => {
    const result = streamText({ model: provider().chatModel('gpt'), prompt: 'hello', maxRetries: 0 });
    let text = '';
    for await (const piece of result.textStream) text += piece;
    expect(text).toBe(hello);
    expect((await result.usage).totalTokens).toBe(24);
    expect(await result.finishReason).toBe('stop');
  });

  it('streams the demo deployment', async () => {
    const result = streamText({ model: provider().chatModel('demo'), prompt: 'Count to 12', maxRetries: 0 });
    expect(await result.text).toBe('1 2 3 4 5 6 7 8 9 10 11 12');
  });

  it('runs tools, streamed or not', async () => {
    const toolOptions = {
      model: provider().chatModel('gpt'),
      prompt: 'What is the weather in Paris?',
      tools,
      stopWhen: stepCountIs(3),
      maxRetries: 0,
    };
    const completeResult = await generateText(toolOptions);
    const streamed = streamText(toolOptions);
    await streamed.consumeStream();
    for (const [text, steps] of [
      [completeResult.text, completeResult.steps],
      [await streamed.text, await streamed.steps],
    ] as const) {
      expect(text).toBe('It is sunny in Paris.');
      expect(steps).toHaveLength(2);
      expect(steps[0]?.toolResults).toMatchObject([
        { toolName: 'get_weather', input: { city: 'Paris' }, output: 'sunny in Paris' },
      ]);
    }
  });

  it('runs tools of the demo deployment', async () => {
    const { steps } = await generateText({
      model: provider().chatModel('demo'),
      prompt: 'What is the weather in Paris?',
      tools,
      stopWhen: stepCountIs(2),
      maxRetries: 0,
    });
    expect(steps[0]?.toolCalls).toMatchObject([{ toolName: 'get_weather', input: { city: 'Paris' } }]);
    expect(steps[1]?.text).toContain('sunny in Paris');
  });

  it.each([
    ['too long', 'gpt', 400, false],
    ['too fast', 'gpt', 429, true],
    ['overloaded', 'gpt', 503, true],
    ['hello', 'staff', 403, false],
    ['hello', 'none', 404, false],
  ])('throws an APICallError for "%s" to %s', async (prompt, model, statusCode, isRetryable) => {
    const error = await generateText({ model: provider().chatModel(model), prompt, maxRetries: 0 }).catch(
      (thrown: unknown) => thrown,
    );
    expect(APICallError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({ statusCode, isRetryable });
  });

  it('reports an error in a stream', async () => {
    const errors: unknown[] = [];
    const result = streamText({
      model: provider('unknown').chatModel('gpt'),
      prompt: 'hello',
      maxRetries: 0,
      onError: ({ error }) => void errors.push(error),
    });
    await result.consumeStream();
    expect(errors).toMatchObject([{ statusCode: 401 }]);
  });

  it('ends the call when it is aborted', async () => {
    const leaving = new AbortController();
    const result = streamText({
      model: provider().chatModel('demo'),
      prompt: 'Count to 1000',
      abortSignal: leaving.signal,
      maxRetries: 0,
    });
    for await (const _piece of result.textStream) leaving.abort();
    await expect.poll(() => mocked.service.inFlightCalls.size, { interval: 5 }).toBe(0);
  });

  it('embeds', async () => {
    const { embeddings } = await embedMany({
      model: provider().textEmbeddingModel('vectors'),
      values: ['a', 'b'],
      maxRetries: 0,
    });
    expect(embeddings).toEqual([vector, vector]);
  });
});
