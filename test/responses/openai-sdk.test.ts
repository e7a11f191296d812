import type OpenAI from 'openai';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { MockedService } from '#test/mocked-service.ts';
import { createClient, hello, post, readEvents, readResponse, startResponsesService } from './support.ts';

let mocked: MockedService;

beforeAll(async () => {
  mocked = await startResponsesService();
});

afterEach(() => mocked.service.forgetFailures());

afterAll(() => mocked[Symbol.asyncDispose]());

const models = ['gpt', 'claude', 'gemini', 'app'];
const everywhere = ['/v1', '/openai/v1'].flatMap((base) => models.map((model) => [base, model] as const));

const weather: OpenAI.Responses.FunctionTool = {
  type: 'function',
  name: 'get_weather',
  description: 'The weather in a city',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  strict: false,
};

describe.each(everywhere)('OpenAI SDK on %s with %s', (base, model) => {
  const client = (): OpenAI => createClient(mocked.service, base);

  it('receives a response', async () => {
    const response = await client().responses.create({ model, input: 'Hello', store: false });
    expect(response.output_text).toBe(hello);
    expect(response).toMatchObject({ status: 'completed', model, object: 'response', store: false });
    expect(response.usage?.output_tokens).toBeGreaterThan(0);
  });

  it('streams the same response in pieces', async () => {
    const stream = client().responses.stream({ model, input: 'Hello', store: false });
    const textPieces: string[] = [];
    stream.on('response.output_text.delta', ({ delta }) => textPieces.push(delta));
    const response = await stream.finalResponse();
    expect(textPieces.join('')).toBe(hello);
    expect(textPieces.length).toBeGreaterThan(3);
    expect(response.output_text).toBe(hello);
    expect(response.status).toBe('completed');
  });

  it.each([false, true])('calls tools in parallel and returns their results (streamed: %s)', async (streamed) => {
    const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: 'How is the weather?' }];
    const body = { model, input, tools: [weather], store: false };
    const response = streamed ? await client().responses.stream(body).finalResponse() : await client().responses.create(body);
    const calls = response.output.filter(({ type }) => type === 'function_call') as OpenAI.Responses.ResponseFunctionToolCall[];
    expect(calls.map(({ name, arguments: args }) => [name, JSON.parse(args)])).toEqual([
      ['get_weather', { city: 'Paris' }],
      ['get_weather', { city: 'Oslo' }],
    ]);
    expect(new Set(calls.map(({ call_id }) => call_id)).size).toBe(2);
    const outputs = calls.map(({ call_id }) => ({ type: 'function_call_output' as const, call_id, output: 'fine' }));
    const next = await client().responses.create({
      ...body,
      input: [...input, ...(response.output as OpenAI.Responses.ResponseInput), ...outputs],
    });
    expect(next.output_text).toBe('It is sunny in Paris and rainy in Oslo.');
  });

  it('parses an answer with a schema', async () => {
    const format = {
      type: 'json_schema',
      name: 'person',
      strict: true,
      schema: { type: 'object', properties: { name: { type: 'string' }, age: { type: 'number' } }, required: ['name', 'age'] },
    } as const;
    const response = await client().responses.parse({ model, input: 'A person', text: { format }, store: false });
    expect(response.output_parsed).toEqual({ name: 'Ada', age: 36 });
  });

  it.each([
    ['too fast', 429],
    ['too long', 400],
    ['overloaded', 503],
    ['broken', 500],
  ])('throws "%s" with its status %i, streamed or not', async (input, status) => {
    for (const stream of [false, true]) {
      mocked.service.forgetFailures();
      await expect(client().responses.create({ model, input, stream })).rejects.toMatchObject({ status });
    }
  });
});

describe('response', () => {
  it('has the events of the specification in order', async () => {
    const events = await readEvents(mocked.service, { model: 'gpt', input: 'Hello' });
    const types = events.map(({ type }) => type).filter((type, index, all) => type !== all[index - 1]);
    expect(types).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ]);
  });

  it.each(['gpt', 'claude', 'gemini', 'app', 'demo', 'quick'])(
    'is equal as JSON and at the end of a stream (%s)',
    async (model) => {
      for (const input of ['Hello', 'How is the weather?', 'Please think about it']) {
        const body = { model, input, store: false, ...(input.includes('weather') && { tools: [weather] }) };
        const completeResponse = readResponse(await post(mocked.service, body));
        const events = await readEvents(mocked.service, body);
        expect(withoutIds(events.at(-1)?.response)).toEqual(withoutIds(completeResponse));
      }
    },
  );

  it('contains the request with defaults for absent fields', async () => {
    const body = {
      model: 'gpt',
      input: 'Hello',
      instructions: 'Be brief.',
      metadata: { a: 'b' },
      temperature: 0.5,
      max_output_tokens: 100,
    };
    const response = readResponse(await post(mocked.service, body));
    expect(response).toMatchObject({
      instructions: 'Be brief.',
      metadata: { a: 'b' },
      temperature: 0.5,
      max_output_tokens: 100,
      top_p: 1,
      tools: [],
      tool_choice: 'auto',
      truncation: 'disabled',
      store: false,
      error: null,
    });
    const sent = mocked.mock.getLastRequest()?.body as { messages: object[]; max_tokens: number };
    expect(sent.messages).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hello' },
    ]);
    expect(sent.max_tokens).toBe(100);
  });
});

function withoutIds(response: unknown): unknown {
  return JSON.parse(
    JSON.stringify(response, (key, value) =>
      ['id', 'created_at', 'completed_at', 'call_id', 'encrypted_content'].includes(key) ? undefined : value,
    ),
  );
}
