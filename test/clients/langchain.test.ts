import { HumanMessage, ToolMessage, type UsageMetadata } from '@langchain/core/messages';
import { AzureChatOpenAI, ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type MockedService, startMockedService, vector, weatherTool } from '#test/mocked-service.ts';
import { callerKey } from '#test/start-service.ts';

let mocked: MockedService;

beforeAll(async () => {
  mocked = await startMockedService();
});

afterEach(() => mocked.service.forgetFailures());

afterAll(() => mocked[Symbol.asyncDispose]());

const createChat = (model: string) =>
  new ChatOpenAI({ model, apiKey: callerKey, maxRetries: 0, configuration: { baseURL: `${mocked.service.url}/v1` } });

const azure = (model: string) =>
  new AzureChatOpenAI({
    azureOpenAIApiKey: callerKey,
    azureOpenAIApiDeploymentName: model,
    azureOpenAIApiVersion: '2024-10-21',
    azureOpenAIEndpoint: mocked.service.url,
    maxRetries: 0,
  });

describe.each([
  ['ChatOpenAI', createChat],
  ['AzureChatOpenAI', azure],
] as const)('%s of LangChain', (_name, client) => {
  it.each(['gpt', 'azure'])('invokes %s', async (model) => {
    const reply = await client(model).invoke('hello');
    expect(reply.content).toBe('Hello! Grüße, 你好 😀, from the mock.');
    expect(reply.usage_metadata).toMatchObject({ input_tokens: 11, output_tokens: 13, total_tokens: 24 });
  });

  it.each(['gpt', 'demo'])('streams %s', async (model) => {
    let text = '';
    let tokens = 0;
    for await (const chunk of await client(model).stream(model === 'demo' ? 'Count to 5' : 'hello')) {
      text += chunk.text;
      tokens += (chunk.usage_metadata as UsageMetadata | undefined)?.total_tokens ?? 0;
    }
    expect(text).toBe(model === 'demo' ? '1 2 3 4 5' : 'Hello! Grüße, 你好 😀, from the mock.');
    expect(tokens).toBeGreaterThan(0);
  });

  it('calls tools, streamed or not, and returns their results', async () => {
    const bound = client('gpt').bindTools([weatherTool]);
    const question = new HumanMessage('What is the weather in Paris?');
    const callMessage = await bound.invoke([question]);
    expect(callMessage.tool_calls).toMatchObject([{ id: 'call_weather', name: 'get_weather', args: { city: 'Paris' } }]);
    const answer = await bound.invoke([
      question,
      callMessage,
      new ToolMessage({ content: 'sunny', tool_call_id: 'call_weather' }),
    ]);
    expect(answer.content).toBe('It is sunny in Paris.');
    let streamed: Awaited<ReturnType<typeof bound.invoke>> | undefined;
    for await (const chunk of await bound.stream([question])) streamed = streamed === undefined ? chunk : streamed.concat(chunk);
    expect(streamed?.tool_calls).toMatchObject([{ id: 'call_weather', name: 'get_weather', args: { city: 'Paris' } }]);
  });

  it('rejects with the status of the error', async () => {
    await expect(client('gpt').invoke('too long')).rejects.toMatchObject({ status: 400 });
    await expect(client('staff').invoke('hello')).rejects.toMatchObject({ status: 403 });
    await expect(client('none').invoke('hello')).rejects.toMatchObject({ status: 404 });
  });
});

describe('OpenAIEmbeddings of LangChain', () => {
  it('embeds documents and queries', async () => {
    const of = (model: string) =>
      new OpenAIEmbeddings({ model, apiKey: callerKey, maxRetries: 0, configuration: { baseURL: `${mocked.service.url}/v1` } });
    expect(await of('vectors').embedQuery('anything')).toEqual(vector);
    expect((await of('demo-vectors').embedDocuments(['a', 'b'])).map(({ length }) => length)).toEqual([384, 384]);
  });
});
