import { LLMock } from '@copilotkit/aimock';
import OpenAI from 'openai';
import { expect } from 'vitest';
import { type MockedService, startBefore } from '#test/mocked-service.ts';
import { Specification } from '#test/open-responses/specification.ts';
import type { TestResponse } from '#test/send-request.ts';
import { callerKey, type ServiceOptions, type TestService, withKey } from '#test/start-service.ts';

export const hello = 'Hello! Grüße, 你好 😀, from the mock.';

/**
 * Starts the service with a third-party mock that supports several APIs. `gpt` calls it through the OpenAI API, `claude` through
 * the Messages API, and `gemini` through the Gemini API. `app` is an application at the mock. `quick` is a quick app with the
 * demo model. `staff` requires another role.
 */
export async function startResponsesService(
  options: ServiceOptions = {},
  more: object = {},
  ...otherOptions: ServiceOptions[]
): Promise<MockedService> {
  const mock = new LLMock({ port: 0, host: '127.0.0.1', chunkSize: 4 });
  mock.on({ userMessage: /weather/i, hasToolResult: true }, { content: 'It is sunny in Paris and rainy in Oslo.' });
  mock.on(
    { userMessage: /weather/i, hasToolResult: false },
    {
      toolCalls: [
        { name: 'get_weather', arguments: '{"city":"Paris"}', id: 'call_paris' },
        { name: 'get_weather', arguments: '{"city":"Oslo"}', id: 'call_oslo' },
      ],
    },
  );
  for (const [words, status] of [
    [/too fast/i, 429],
    [/too long/i, 400],
    [/overloaded/i, 503],
    [/broken/i, 500],
  ] as const)
    mock.onMessage(words, { error: { message: `The mock says ${status}.`, type: 'mocked' }, status });
  mock.onMessage(/person/i, { content: '{"name":"Ada","age":36}' });
  mock.onMessage(/think/i, { content: 'So it is.', reasoning: 'Let me think.', reasoningSignature: 'c2lnbmVk' });
  mock.onMessage(/.*/, {
    content: hello,
    usage: { prompt_tokens: 11, completion_tokens: 13, input_tokens: 11, output_tokens: 13 },
  });
  await mock.start();
  const once = { maxRetryAttempts: 1 };
  const openai = [{ endpoint: `${mock.url}/v1`, key: 'upstream-key', model: 'gpt-4o' }];
  const google = { protocol: 'gemini', endpoint: `${mock.url}/v1beta`, key: 'upstream-key', model: 'gemini-3-pro' };
  const configuration = {
    models: {
      gpt: { upstreams: openai, ...once },
      claude: {
        upstreams: [{ protocol: 'anthropic', endpoint: `${mock.url}/v1`, key: 'upstream-key', model: 'claude-sonnet-4-5' }],
        ...once,
      },
      gemini: { upstreams: [google], ...once },
      staff: { upstreams: openai, userRoles: ['staff'] },
      vectors: { type: 'embedding', upstreams: openai },
      demo: { upstreams: [{ protocol: 'demo' }], displayName: 'The demo' },
    },
    applications: {
      app: { endpoint: `${mock.url}/v1/chat/completions` },
      quick: {
        applicationTypeSchemaId: 'https://parley.example/custom_application_schemas/quickapps',
        applicationProperties: { temperature: 0, instructions: 'Be kind.', model: 'demo' },
      },
    },
    keys: { [callerKey]: { project: 'clients' }, 'other-key': { project: 'others' } },
    ...more,
  };
  return startBefore(mock, configuration, options, ...otherOptions);
}

/** Creates an OpenAI client. */
export function createClient(service: TestService, base = '/v1', apiKey = callerKey): OpenAI {
  return new OpenAI({ apiKey, baseURL: `${service.url}${base}`, maxRetries: 0 });
}

/**
 * Returns a factory for clients that send each request to the next node, so that state must be visible on all nodes immediately.
 */
export function createAlternatingClients({ nodes }: MockedService): (base?: string, apiKey?: string) => OpenAI {
  let requestCount = 0;
  return (base = '/v1', apiKey = callerKey) => {
    const [first] = nodes;
    const inTurn = (address: string | URL | Request, init?: RequestInit): Promise<Response> => {
      requestCount += 1;
      return fetch(String(address).replace(first?.url ?? '', nodes[requestCount % nodes.length]?.url ?? ''), init);
    };
    return new OpenAI({ apiKey, baseURL: `${first?.url}${base}`, maxRetries: 0, fetch: inTurn });
  };
}

export function post(service: TestService, body: object, path = '/v1/responses'): Promise<TestResponse> {
  return service.sendRequest({ path, headers: withKey(callerKey), body });
}

export interface ResponseEvent {
  readonly type: string;
  readonly sequence_number: number;
  readonly [key: string]: unknown;
}

/** Returns the events of a streamed answer after checking the rules for all streams. */
export async function readEvents(service: TestService, body: object, path?: string): Promise<ResponseEvent[]> {
  const { status, text } = await post(service, { stream: true, store: false, ...body }, path);
  expect(status, text).toBe(200);
  return requireOrder(text);
}

/** Parses the events of a stream and checks their order. `isOwn` also validates them against Parley's schemas. */
export function requireOrder(text: string, isOwn = true): ResponseEvent[] {
  const blocks = text.split('\n\n').filter((block) => block !== '' && !block.startsWith(':'));
  expect(blocks.pop()).toBe('data: [DONE]');
  const events = blocks.map((block) => {
    const [, name, data = ''] = /^event: (.*)\ndata: (.*)$/.exec(block) ?? [];
    const event = JSON.parse(data) as ResponseEvent;
    expect(event.type).toBe(name);
    return event;
  });
  expect(events.map((event) => event.sequence_number)).toEqual(events.map((_event, index) => index));
  if (isOwn) for (const event of events) expect(specification.findErrors('StreamingEvent', event)).toEqual([]);
  expect(events.slice(0, 2).map(({ type }) => type)).toEqual(['response.created', 'response.in_progress']);
  const ends = events.filter(({ type }) => /^response\.(completed|incomplete|failed)$/.test(type));
  expect(ends).toHaveLength(1);
  expect(events.at(-1)).toBe(ends[0]);
  requireNesting(events);
  return events;
}

/** Checks that each item is opened and closed once, with its parts inside it, in the order of the indexes. */
function requireNesting(events: readonly ResponseEvent[]): void {
  const added = events.filter(({ type }) => type === 'response.output_item.added');
  expect(added.map(({ output_index }) => output_index)).toEqual(added.map((_event, index) => index));
  for (const { item, output_index } of added) {
    const { id } = item as { id: string };
    const own = events.filter((event) => event.output_index === output_index);
    expect(own[0]?.type).toBe('response.output_item.added');
    expect(own.every((event) => (event.item_id ?? (event.item as { id: string }).id) === id)).toBe(true);
    if (events.some(({ type }) => type === 'error')) continue;
    expect(own.at(-1)?.type).toBe('response.output_item.done');
    const open: string[] = [];
    for (const { type, content_index, summary_index } of own) {
      const part = `${content_index ?? summary_index}`;
      if (type.endsWith('_part.added')) open.push(part);
      else if (type.endsWith('_part.done')) expect(open.pop()).toBe(part);
      else if (part !== 'undefined') expect(open).toContain(part);
    }
    expect(open).toEqual([]);
  }
}

const specification = new Specification();

/** Parses a JSON response and validates it against the schema. */
export function readResponse({ status, text }: TestResponse): ReturnType<typeof toAny> {
  expect(status, text).toBe(200);
  const response: unknown = JSON.parse(text);
  expect(specification.findErrors('ResponseResource', response)).toEqual([]);
  return toAny(response);
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers
function toAny(value: unknown): any {
  return value;
}
