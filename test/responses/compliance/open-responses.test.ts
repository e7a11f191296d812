import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MockedService } from '#test/mocked-service.ts';
import { callerKey } from '#test/start-service.ts';
import { eventsOf, post, startResponsesService, type Told } from '../support.ts';

// What the compliance test of the Open Responses specification asks of a server, asked of each kind of upstream. Its schemas are not kept here: what
// a response must have is typed out from its reference, and events are held against ours, which `eventsOf` does.

let mocked: MockedService;

beforeAll(async () => {
  const before = await startResponsesService();
  const endpoint = `${before.mock.url}/v1`;
  const model = { maxRetryAttempts: 1 };
  // A server that is of the specification itself: what it answers must still be so once it is relayed.
  const relayed = { endpoint: `${before.service.url}/v1`, key: callerKey, model: 'chat', api: 'responses' };
  before.service.reload({
    models: {
      chat: { upstreams: [{ endpoint, key: 'upstream-key', model: 'gpt-4o' }], ...model },
      anthropic: {
        upstreams: [{ protocol: 'anthropic', endpoint, key: 'upstream-key', model: 'claude-sonnet-4-5' }],
        ...model,
      },
      responses: { upstreams: [relayed], ...model },
    },
    keys: { [callerKey]: { project: 'clients' } },
  });
  mocked = before;
});

afterAll(() => mocked[Symbol.asyncDispose]());

const text = { type: 'string' };
const whole = { type: 'integer' };
const flag = { type: 'boolean' };
const numeric = { type: 'number' };
const orNull = (type: string) => ({ type: [type, 'null'] });

const fields = {
  ...{ id: text, object: { const: 'response' }, created_at: whole, completed_at: orNull('integer'), status: text },
  ...{ incomplete_details: orNull('object'), model: text, previous_response_id: orNull('string') },
  ...{ instructions: orNull('string'), output: { type: 'array' }, error: orNull('object') },
  ...{ tools: { type: 'array' }, tool_choice: { type: ['string', 'object'] }, truncation: { enum: ['auto', 'disabled'] } },
  ...{
    parallel_tool_calls: flag,
    text: { type: 'object' },
    top_p: numeric,
    presence_penalty: numeric,
    frequency_penalty: numeric,
  },
  ...{ top_logprobs: whole, temperature: numeric, reasoning: orNull('object'), user: orNull('string'), usage: orNull('object') },
  ...{ max_output_tokens: orNull('integer'), max_tool_calls: orNull('integer'), store: flag, background: flag },
  ...{
    service_tier: text,
    metadata: { type: 'object' },
    safety_identifier: orNull('string'),
    prompt_cache_key: orNull('string'),
  },
};

const tokens = {
  type: 'object',
  required: ['input_tokens', 'output_tokens', 'total_tokens', 'input_tokens_details', 'output_tokens_details'],
  properties: {
    input_tokens_details: { type: 'object', required: ['cached_tokens'] },
    output_tokens_details: { type: 'object', required: ['reasoning_tokens'] },
  },
};

const check = new Ajv2020({ allErrors: true, strict: false }).compile({
  type: 'object',
  required: Object.keys(fields),
  properties: { ...fields, usage: { anyOf: [tokens, { type: 'null' }] } },
});

interface Item {
  readonly type: string;
  readonly [key: string]: unknown;
}

interface Answer {
  readonly status: string;
  readonly output: readonly Item[];
}

function requireResponse(value: unknown): Answer {
  expect(check(value) ? [] : check.errors?.map(({ instancePath, message }) => `${instancePath} ${message}`)).toEqual([]);
  return value as Answer;
}

async function answerTo(body: object): Promise<Answer> {
  const answered = await post(mocked.service, body);
  expect(answered.status, answered.text).toBe(200);
  return requireResponse(answered.json);
}

const message = (role: string, content: unknown) => ({ type: 'message', role, content });
const location = { type: 'string', description: 'The city and state' };
const weather = {
  type: 'function',
  name: 'get_weather',
  description: 'Get the current weather for a location',
  parameters: { type: 'object', properties: { location }, required: ['location'] },
};
const picture =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';

describe.each(['chat', 'anthropic', 'responses'])('before an upstream of %s', (model) => {
  it.each([
    ['a text', [message('user', 'Say hello in exactly 3 words.')]],
    ['a system message', [message('system', 'You are a pirate.'), message('user', 'Say hello.')]],
    [
      'a picture',
      [
        message('user', [
          { type: 'input_text', text: 'What do you see?' },
          { type: 'input_image', image_url: picture },
        ]),
      ],
    ],
    [
      'several turns',
      [message('user', 'My name is Alice.'), message('assistant', 'Hello Alice!'), message('user', 'What is my name?')],
    ],
  ])('%s is answered with a whole response', async (_what, input) => {
    const { status, output } = await answerTo({ model, input });
    expect(status).toBe('completed');
    expect(output.length).toBeGreaterThan(0);
  });

  it('a stream ends with a whole response', async () => {
    const events = await eventsOf(mocked.service, { model, input: [message('user', 'Count from 1 to 5.')] });
    expect(requireResponse(events.at(-1)?.response).status).toBe('completed');
  });

  const asked = { tools: [weather], input: [message('user', "What's the weather like in San Francisco?")] };

  it('a tool is called', async () => {
    const { output } = await answerTo({ model, ...asked });
    expect(output.map(({ type }) => type)).toContain('function_call');
  });

  it('a tool is called in a stream, its arguments as they come', async () => {
    const events = await eventsOf(mocked.service, { model, ...asked });
    requireResponse(events.at(-1)?.response);
    const isOfCall = ({ item }: Told) => (item as Item | undefined)?.type === 'function_call';
    const seen = events.map((event) => (isOfCall(event) ? `${event.type} of a call` : event.type));
    expect(seen).toEqual(
      expect.arrayContaining([
        'response.output_item.added of a call',
        'response.function_call_arguments.delta',
        'response.function_call_arguments.done',
        'response.output_item.done of a call',
      ]),
    );
  });
});
