import { LLMock } from '@copilotkit/aimock';
import { type MockedService, startBefore } from '#test/mocked-service.ts';
import type { TestResponse } from '#test/send-request.ts';
import { callerKey, type TestService, usersDemoPaceMs, withKey } from '#test/start-service.ts';

export const hello = 'Hello! Grüße, 你好 😀, from the mock.';
/** PNG image of one red pixel. */
export const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';

/**
 * Starts the service with a third-party mock that supports both APIs. `gpt` calls it through the OpenAI API, `claude` through the
 * Messages API, and `app` is an application at the mock. `quick` is a quick app with the demo model. `staff` requires another
 * role.
 */
export async function startMessagesService(): Promise<MockedService> {
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
  mock.onMessage(/think/i, { content: 'So it is.', reasoning: 'Let me think.', reasoningSignature: 'c2lnbmVk' });
  mock.onMessage(/.*/, {
    content: hello,
    usage: { prompt_tokens: 11, completion_tokens: 13, input_tokens: 11, output_tokens: 13 },
  });
  await mock.start();
  const once = { maxRetryAttempts: 1 };
  const openai = [{ endpoint: `${mock.url}/v1`, key: 'upstream-key', model: 'gpt-4o' }];
  return startBefore(
    mock,
    {
      models: {
        gpt: { upstreams: openai, ...once },
        claude: {
          upstreams: [{ protocol: 'anthropic', endpoint: `${mock.url}/v1`, key: 'upstream-key', model: 'claude-sonnet-4-5' }],
          ...once,
        },
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
    },
    { demoPaceMs: usersDemoPaceMs },
  );
}

/** Returns the content of the last message that the mock received. */
export function getLastContent(mock: LLMock): unknown {
  const body = mock.getLastRequest()?.body as { messages?: { content: unknown }[] } | undefined;
  return body?.messages?.at(-1)?.content;
}

/** Sends a message request with `Api-Key` on the canonical prefix. */
export function post(service: TestService, body: object, headers: Readonly<Record<string, string>> = {}): Promise<TestResponse> {
  return service.sendRequest({
    path: '/msgapi/v1/messages',
    headers: { ...withKey(callerKey), ...headers },
    body: createBody(body),
  });
}

/** Returns a complete request body. */
export function createBody(body: object): object {
  return { model: 'm', max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }], ...body };
}

/** Encodes an event as an anthropic upstream sends it. */
export function toNamed(event: { type: string }): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}
