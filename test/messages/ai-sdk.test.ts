import { createAnthropic } from '@ai-sdk/anthropic';
import { APICallError, generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { MockedService } from '#test/mocked-service.ts';
import { callerKey } from '#test/start-service.ts';
import { getLastContent, hello, png, startMessagesService } from './support.ts';

let mocked: MockedService;

beforeAll(async () => {
  mocked = await startMessagesService();
});

afterEach(() => mocked.service.forgetFailures());

afterAll(() => mocked[Symbol.asyncDispose]());

const prefixes = ['anthropic', 'msgapi'];
const everywhere = prefixes.flatMap((prefix) => ['gpt', 'claude', 'app'].map((model) => [prefix, model] as const));

function modelAt(prefix: string, model: string) {
  const credentials = prefix === 'msgapi' ? { authToken: callerKey } : { apiKey: callerKey };
  return createAnthropic({ ...credentials, baseURL: `${mocked.service.url}/${prefix}/v1` })(model);
}

const get_weather = tool({
  description: 'The weather in a city',
  inputSchema: jsonSchema<{ city: string }>({ type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }),
  execute: async ({ city }) => `sunny in ${city}`,
});

describe.each(everywhere)('AI SDK on /%s with %s', (prefix, name) => {
  const createOptions = () => ({ model: modelAt(prefix, name), prompt: 'hello', maxRetries: 0, maxOutputTokens: 100 });

  it('generates text', async () => {
    const { text, usage, finishReason } = await generateText(createOptions());
    expect([text, finishReason]).toEqual([hello, 'stop']);
    expect(usage).toMatchObject({ inputTokens: 11, outputTokens: 13 });
  });

  it('streams text', async () => {
    const result = streamText(createOptions());
    let text = '';
    for await (const piece of result.textStream) text += piece;
    expect(text).toBe(hello);
    expect(await result.finishReason).toBe('stop');
    if (name !== 'app') expect(await result.usage).toMatchObject({ inputTokens: 11, outputTokens: 13 });
  });

  it('runs tools, streamed or not', async () => {
    const toolOptions = { ...createOptions(), prompt: 'What is the weather?', tools: { get_weather }, stopWhen: stepCountIs(3) };
    const completeResult = await generateText(toolOptions);
    const streamed = streamText(toolOptions);
    await streamed.consumeStream();
    for (const [text, steps] of [
      [completeResult.text, completeResult.steps],
      [await streamed.text, await streamed.steps],
    ] as const) {
      expect(text).toBe('It is sunny in Paris and rainy in Oslo.');
      expect(steps[0]?.toolResults.map(({ output }) => output)).toEqual(['sunny in Paris', 'sunny in Oslo']);
    }
  });
});

describe('AI SDK', () => {
  it.each([
    ['too long', 'gpt', 400, false],
    ['too fast', 'claude', 429, true],
    ['overloaded', 'gpt', 503, true],
    ['hello', 'staff', 403, false],
    ['hello', 'none', 404, false],
  ])('throws an APICallError for "%s" to %s', async (prompt, model, statusCode, isRetryable) => {
    const error = await generateText({ model: modelAt('anthropic', model), prompt, maxRetries: 0, maxOutputTokens: 100 }).catch(
      (thrown: unknown) => thrown,
    );
    expect(APICallError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({ statusCode, isRetryable, data: { type: 'error', error: { type: expect.any(String) } } });
  });

  it.each(['demo', 'quick'])('ignores parts that the Messages API does not have, with %s', async (model) => {
    const result = streamText({
      model: modelAt('msgapi', model),
      prompt: 'Show me everything you can',
      maxRetries: 0,
      maxOutputTokens: 100,
    });
    const types = new Set<string>();
    for await (const { type } of result.fullStream) types.add(type);
    expect((await result.text).length).toBeGreaterThan(10);
    expect(types).not.toContain('error');
    expect(await result.finishReason).toBe('stop');
  });

  it('sends files that reach the upstream', async () => {
    const content = [
      { type: 'text' as const, text: 'Look.' },
      { type: 'file' as const, mediaType: 'application/pdf', data: 'JVBERg==', filename: 'a.pdf' },
      { type: 'image' as const, image: png, mediaType: 'image/png' },
    ];
    await generateText({
      model: modelAt('anthropic', 'gpt'),
      messages: [{ role: 'user', content }],
      maxRetries: 0,
      maxOutputTokens: 100,
    });
    expect(getLastContent(mocked.mock)).toEqual([
      { type: 'text', text: 'Look.' },
      { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERg==' } },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
    ]);
  });

  it('ends the call when it is aborted', async () => {
    const abortController = new AbortController();
    const result = streamText({
      model: modelAt('anthropic', 'demo'),
      prompt: 'Count to 1000',
      abortSignal: abortController.signal,
      maxRetries: 0,
      maxOutputTokens: 100,
    });
    for await (const _piece of result.textStream) abortController.abort();
    await expect.poll(() => mocked.service.inFlightCalls.size, { interval: 5 }).toBe(0);
  });
});
