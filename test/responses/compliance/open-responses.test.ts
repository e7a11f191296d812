import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MockedService } from '#test/mocked-service.ts';
import { openResponses, type ResponseDatabase } from '#test/response-stores.ts';
import { callerKey, type TestService, withKey } from '#test/start-service.ts';
import { post, type ResponseEvent, readEvents, readResponse, startResponsesService } from '../support.ts';

// Requirements of the compliance test of the Open Responses specification, tested with each kind of upstream. `readResponse` and
// `readEvents` validate the answers against its schemas.

interface Item {
  readonly type: string;
  readonly [key: string]: unknown;
}

interface Answer {
  readonly status: string;
  readonly output: readonly Item[];
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

const engines = ['SQLite', 'PostgreSQL'] as const;
const upstreams = ['chat', 'anthropic', 'responses'];

describe.each(engines)('two nodes with %s', (engine) => {
  let stored: ResponseDatabase;
  let mocked: MockedService;
  let requestCount = 0;

  beforeAll(async () => {
    stored = await openResponses(engine);
    const [one, other] = [0, 1].map(() => ({ responses: { ...stored.stores(), isShared: true } }));
    mocked = await startResponsesService(one, {}, other ?? {});
    const endpoint = `${mocked.mock.url}/v1`;
    const model = { maxRetryAttempts: 1 };
    // The service itself is the upstream, so that relayed answers must still match the specification.
    const relayed = { endpoint: `${mocked.service.url}/v1`, key: callerKey, model: 'chat', api: 'responses' };
    const models = {
      chat: { upstreams: [{ endpoint, key: 'upstream-key', model: 'gpt-4o' }], ...model },
      anthropic: {
        upstreams: [{ protocol: 'anthropic', endpoint, key: 'upstream-key', model: 'claude-sonnet-4-5' }],
        ...model,
      },
      responses: { upstreams: [relayed], ...model },
    };
    for (const node of mocked.nodes) node.reload({ models, keys: { [callerKey]: { project: 'clients' } } });
  });

  afterAll(async () => {
    await mocked[Symbol.asyncDispose]();
    await stored[Symbol.asyncDispose]();
  });

  /** Returns the nodes in turn. */
  function nextNode(): TestService {
    requestCount += 1;
    return mocked.nodes[requestCount % mocked.nodes.length] ?? mocked.service;
  }

  /** Returns a response after checking that the other node returns it too. */
  async function createResponse(body: object): Promise<Answer> {
    const response = readResponse(await post(nextNode(), body));
    const path = `/v1/responses/${response.id}`;
    const read = readResponse(await nextNode().sendRequest({ method: 'GET', path, headers: withKey(callerKey) }));
    expect(read).toEqual(response);
    return response;
  }

  describe.each(upstreams)('with a %s upstream', (model) => {
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
    ])('return a complete response for %s', async (_what, input) => {
      const { status, output } = await createResponse({ model, input });
      expect(status).toBe('completed');
      expect(output.length).toBeGreaterThan(0);
    });

    it('end a stream with a complete response', async () => {
      const events = await readEvents(nextNode(), { model, input: [message('user', 'Count from 1 to 5.')] });
      expect(events.at(-1)).toMatchObject({ response: { status: 'completed' } });
    });

    const requestCount = { tools: [weather], input: [message('user', "What's the weather like in San Francisco?")] };

    it('call a tool', async () => {
      const { output } = await createResponse({ model, ...requestCount });
      expect(output.map(({ type }) => type)).toContain('function_call');
    });

    it('stream a tool call with its arguments', async () => {
      const events = await readEvents(nextNode(), { model, ...requestCount });
      const isCallEvent = ({ item }: ResponseEvent) => (item as Item | undefined)?.type === 'function_call';
      const eventNames = events.map((event) => (isCallEvent(event) ? `${event.type} of a call` : event.type));
      expect(eventNames).toEqual(
        expect.arrayContaining([
          'response.output_item.added of a call',
          'response.function_call_arguments.delta',
          'response.function_call_arguments.done',
          'response.output_item.done of a call',
        ]),
      );
    });
  });
});
