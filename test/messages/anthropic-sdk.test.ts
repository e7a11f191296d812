import Anthropic, { APIError, APIUserAbortError } from '@anthropic-ai/sdk';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { getText } from '#test/message-events.ts';
import type { MockedService } from '#test/mocked-service.ts';
import { callerKey } from '#test/start-service.ts';
import { getLastContent, hello, png, startMessagesService } from './support.ts';

let mocked: MockedService;

beforeAll(async () => {
  mocked = await startMessagesService();
});

afterEach(() => mocked.service.forgetFailures());

afterAll(() => mocked[Symbol.asyncDispose]());

/** Common client setups: the key in `x-api-key` on the alias, or as a bearer token on the canonical prefix. */
const clients = {
  '/anthropic': () => new Anthropic({ apiKey: callerKey, baseURL: `${mocked.service.url}/anthropic`, maxRetries: 0 }),
  '/msgapi': () => new Anthropic({ authToken: callerKey, apiKey: null, baseURL: `${mocked.service.url}/msgapi`, maxRetries: 0 }),
};
type Prefix = keyof typeof clients;
const prefixes = Object.keys(clients) as Prefix[];
const models = ['gpt', 'claude', 'app'];
const everywhere = prefixes.flatMap((prefix) => models.map((model) => [prefix, model] as const));

function createBody(model: string, content: Anthropic.MessageParam['content'] = 'Hello') {
  return { model, max_tokens: 100, messages: [{ role: 'user' as const, content }] };
}

const weather: Anthropic.Tool = {
  name: 'get_weather',
  description: 'The weather in a city',
  input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};

describe.each(everywhere)('Anthropic SDK on %s with %s', (prefix, model) => {
  it('receives a message', async () => {
    const message = await clients[prefix]().messages.create(createBody(model));
    expect(message).toMatchObject({ type: 'message', role: 'assistant', stop_reason: 'end_turn' });
    expect(getText(message as never)).toBe(hello);
    expect(message.usage).toMatchObject({ input_tokens: 11, output_tokens: 13 });
    expect(message._request_id).toBeTruthy();
  });

  it('streams a message', async () => {
    const stream = clients[prefix]().messages.stream(createBody(model));
    const textPieces: string[] = [];
    stream.on('text', (text) => textPieces.push(text));
    const message = await stream.finalMessage();
    expect(textPieces.join('')).toBe(hello);
    expect(textPieces.length).toBeGreaterThan(3);
    expect(getText(message as never)).toBe(hello);
    expect(message.stop_reason).toBe('end_turn');
    expect(message.usage).toMatchObject({ input_tokens: 11, output_tokens: 13 });
  });

  it.each([false, true])('calls tools in parallel and returns their results (streamed: %s)', async (stream) => {
    const client = clients[prefix]();
    const body = { ...createBody(model, 'What is the weather?'), tools: [weather] };
    const first = await (stream ? client.messages.stream(body).finalMessage() : client.messages.create(body));
    expect(first.stop_reason).toBe('tool_use');
    const uses = first.content.filter((block): block is Anthropic.ToolUseBlock => block.type === 'tool_use');
    expect(uses.map(({ name, input }) => [name, input])).toEqual([
      ['get_weather', { city: 'Paris' }],
      ['get_weather', { city: 'Oslo' }],
    ]);
    const results = uses.map(({ id }) => ({ type: 'tool_result' as const, tool_use_id: id, content: 'sunny' }));
    const messages = [
      ...body.messages,
      { role: 'assistant' as const, content: first.content },
      { role: 'user' as const, content: results },
    ];
    const second = await client.messages.create({ ...body, messages });
    expect(getText(second as never)).toBe('It is sunny in Paris and rainy in Oslo.');
    expect(second.stop_reason).toBe('end_turn');
  });

  it.each([
    ['too fast', 429, 'rate_limit_error'],
    ['too long', 400, 'invalid_request_error'],
    ['overloaded', 503, 'overloaded_error'],
    ['broken', 500, 'api_error'],
  ])('throws the error class for "%s", streamed or not', async (words, status, type) => {
    for (const stream of [false, true]) {
      const error = await clients[prefix]()
        .messages.create({ ...createBody(model, words), stream })
        .catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(APIError);
      expect(error).toMatchObject({ status, type, requestID: expect.any(String) });
      expect((error as APIError).apiMessage).toContain(`The mock says ${status}.`);
      mocked.service.forgetFailures();
    }
  });
});

describe('Anthropic SDK', () => {
  it('sends images that reach the upstream', async () => {
    const source = { type: 'base64' as const, media_type: 'image/png' as const, data: png };
    await clients['/anthropic']().messages.create(
      createBody('gpt', [
        { type: 'text', text: 'What is this?' },
        { type: 'image', source },
      ]),
    );
    expect(getLastContent(mocked.mock)).toEqual([
      { type: 'text', text: 'What is this?' },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
    ]);
  });

  it.each([
    ['claude', 'c2lnbmVk'],
    ['gpt', ''],
  ])('receives the reasoning of %s in a separate block', async (model, signature) => {
    const stream = clients['/anthropic']().messages.stream(createBody(model, 'think'));
    let thoughts = '';
    stream.on('thinking', (piece) => {
      thoughts += piece;
    });
    const message = await stream.finalMessage();
    expect(thoughts).toBe('Let me think.');
    expect(message.content).toMatchObject([
      { type: 'thinking', thinking: 'Let me think.', signature },
      { type: 'text', text: 'So it is.' },
    ]);
  });

  it.each(['demo', 'quick'])('streams from %s and ignores parts that the Messages API does not have', async (model) => {
    const stream = clients['/msgapi']().messages.stream(createBody(model, 'Show me everything you can'));
    const types = new Set<string>();
    stream.on('streamEvent', ({ type }) => types.add(type));
    const message = await stream.finalMessage();
    expect(message.stop_reason).toBe('end_turn');
    expect(getText(message as never).length).toBeGreaterThan(10);
    expect([...types].sort()).toEqual([
      'content_block_delta',
      'content_block_start',
      'content_block_stop',
      'message_delta',
      'message_start',
      'message_stop',
    ]);
  });

  it('returns stages, attachments, and statistics in the field parley of a message', async () => {
    const message = await clients['/msgapi']().messages.create(createBody('demo', 'Show me everything you can'));
    const { parley } = message as unknown as { parley: { custom_content: Record<string, unknown[]>; statistics: object } };
    expect(parley.custom_content.stages?.[0]).toMatchObject({ index: 0, status: 'completed' });
    expect(parley.custom_content.attachments?.length).toBeGreaterThan(0);
    expect(parley.statistics).toMatchObject({ usage_per_model: [{ model: 'demo' }] });
  });

  it('ends the call if it aborts a stream', async () => {
    const stream = clients['/anthropic']().messages.stream(createBody('demo', 'Count to 1000'));
    stream.on('text', () => stream.abort());
    await expect(stream.finalMessage()).rejects.toThrow(APIUserAbortError);
    await expect.poll(() => mocked.service.inFlightCalls.size, { interval: 5 }).toBe(0);
  });

  it.each([
    ['an unknown key', { apiKey: 'unknown' }, 'gpt', 401, 'authentication_error'],
    ['a deployment of another role', {}, 'staff', 403, 'permission_error'],
    ['an unknown deployment', {}, 'none', 404, 'not_found_error'],
    ['an embedding model', {}, 'vectors', 400, 'invalid_request_error'],
  ])('is rejected for %s', async (_what, options, model, status, type) => {
    const client = clients['/anthropic']().withOptions(options);
    await expect(client.messages.create(createBody(model))).rejects.toMatchObject({ status, type });
  });

  it('lists the permitted models and retrieves a model', async () => {
    const client = clients['/anthropic']();
    const listed: string[] = [];
    for await (const { id } of client.models.list()) listed.push(id);
    expect(listed).toEqual(['gpt', 'claude', 'demo', 'app', 'quick']);
    expect(await client.models.retrieve('demo')).toMatchObject({ type: 'model', id: 'demo', display_name: 'The demo' });
    await expect(client.models.retrieve('staff')).rejects.toMatchObject({ status: 403, type: 'permission_error' });
    await expect(client.models.retrieve('vectors')).rejects.toMatchObject({ status: 404, type: 'not_found_error' });
    await expect(clients['/msgapi']().models.list()).rejects.toMatchObject({ status: 404, type: 'not_found_error' });
  });

  it.each(prefixes)('counts tokens on %s', async (prefix) => {
    const { input_tokens } = await clients[prefix]().messages.countTokens({
      model: 'demo',
      messages: createBody('demo', 'x'.repeat(400)).messages,
    });
    expect(input_tokens).toBe(100);
  });
});
