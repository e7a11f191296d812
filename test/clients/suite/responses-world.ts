import { LLMock } from '@copilotkit/aimock';
import { startProcess } from '#test/start-process.ts';
import { callerKey } from '#test/start-service.ts';

/** Environment for clients of the Responses API. */
export interface ResponsesWorld extends AsyncDisposable {
  readonly url: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** A deployment for each upstream API, and a quick app. */
export const responsesDeployments = ['gpt', 'responses', 'claude', 'gemini', 'quick'] as const;

/** Like `responsesDeployments`, plus a deployment whose upstream is another Parley, which sends all fields of the API. */
export const strictDeployments = [...responsesDeployments, 'relay'] as const;

/** Starts the service as a process with a mock that has suitable replies for each client. */
export async function startResponsesWorld(): Promise<ResponsesWorld> {
  await using stack = new AsyncDisposableStack();
  const mock = new LLMock({ port: 0, host: '127.0.0.1', chunkSize: 20 });
  script(mock);
  await mock.start();
  stack.defer(() => mock.stop());
  const upstream = stack.use(await startProcess({ configuration: toConfiguration(mock.url) }));
  const service = stack.use(await startProcess({ configuration: toConfiguration(mock.url, upstream.url) }));
  const running = stack.move();
  const { url } = service;
  return {
    url,
    environment: { PARLEY_URL: url, PARLEY_KEY: callerKey, KEY: callerKey },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

const calls = (name: string, args: object) => ({
  toolCalls: [{ name, arguments: JSON.stringify(args), id: `call_${name}` }],
});

function script(mock: LLMock): void {
  mock.onMessage(/title in the detected language/i, { content: '{"language":"English","title":"A Greeting"}' });
  mock.onMessage(/title for the conversation/i, { content: 'A Greeting' });
  mock.on({ userMessage: /greeting/i, hasToolResult: true }, { content: 'The file says goodbye now.' });
  const offersBash = (request: unknown): boolean => /"name":\s*"Bash"/.test(JSON.stringify(request));
  mock.on(
    { userMessage: /greeting/i, predicate: offersBash },
    calls('Bash', { command: 'sed -i s/Hello/Goodbye/ greeting.txt' }),
  );
  mock.on({ userMessage: /greeting/i }, calls('exec_command', { cmd: 'sed -i s/Hello/Goodbye/ greeting.txt' }));
  const hasCalls = (request: unknown): boolean => JSON.stringify(request).includes('"tool_calls"');
  mock.on({ userMessage: /hand over/i, predicate: (request) => !hasCalls(request) }, calls('transfer_to_Forecaster', {}));
  const hasForecast = (request: unknown): boolean => JSON.stringify(request).includes('sunny in');
  mock.on({ userMessage: /weather/i, predicate: hasForecast }, { content: 'It is sunny in Paris.' });
  mock.on({ userMessage: /weather/i }, calls('get_weather', { city: 'Paris' }));
  mock.onMessage(/two cities/i, {
    toolCalls: ['Paris', 'Oslo'].map((city) => ({
      name: 'get_weather',
      arguments: JSON.stringify({ city }),
      id: `call_${city}`,
    })),
  });
  mock.onMessage(/overloaded/i, { error: { message: 'The mock is overloaded.', type: 'mocked' }, status: 503 });
  mock.onMessage(/too much/i, { error: { message: 'This exceeds the limit of the mock.', type: 'mocked' }, status: 400 });
  mock.onMessage(/cut off/i, { content: 'This answer is cut', finishReason: 'length' });
  mock.onMessage(/break off/i, { content: 'This answer is going to break off in its middle.' }, { truncateAfterChunks: 2 });
  mock.onMessage(/think/i, { content: 'So it is.', reasoning: 'Let me think.', reasoningSignature: 'c2lnbmVk' });
  mock.onMessage(/person/i, { content: '{"name":"Ada","age":36}' });
  const usage = { prompt_tokens: 11, completion_tokens: 13, input_tokens: 11, output_tokens: 13 };
  mock.onMessage(/.*/, { content: 'Hello from the mock.', usage });
}

/** `relay` is the upstream URL of the deployment with this name. */
function toConfiguration(upstream: string, relay?: string): object {
  const openai = { endpoint: `${upstream}/v1`, key: 'upstream-key', model: 'gpt-4o' };
  const once = { maxRetryAttempts: 1 };
  return {
    models: {
      gpt: { upstreams: [openai], ...once },
      // The snippets of the page use this model, because `npm start` provides it.
      demo: { upstreams: [openai], ...once },
      responses: { upstreams: [{ ...openai, api: 'responses' }], ...once },
      ...(relay && {
        relay: { upstreams: [{ endpoint: `${relay}/v1`, key: callerKey, model: 'gpt', api: 'responses' }], ...once },
      }),
      claude: { upstreams: [{ ...openai, protocol: 'anthropic', model: 'claude-sonnet-4-5' }], ...once },
      gemini: { upstreams: [{ ...openai, protocol: 'gemini', endpoint: `${upstream}/v1beta`, model: 'gemini-3-pro' }], ...once },
    },
    applications: {
      quick: {
        applicationTypeSchemaId: 'https://parley.example/custom_application_schemas/quickapps',
        applicationProperties: { model: 'gpt', temperature: 0, instructions: 'Be brief.' },
      },
    },
    keys: { [callerKey]: { project: 'clients' } },
  };
}
