import { LLMock } from '@copilotkit/aimock';
import { callerKey, type ServiceOptions, startService, type TestService, usersDemoPaceMs } from './start-service.ts';

/** Embedding vector that the mock returns. */
export const vector = [0.25, -0.5, 0.75];

export interface MockedService extends AsyncDisposable {
  readonly service: TestService;
  /** All nodes of the service. `service` is the first. */
  readonly nodes: readonly TestService[];
  readonly mock: LLMock;
}

/**
 * Starts a service with upstreams from a third-party mock of the OpenAI API, for standard clients. The mock serves `gpt` and
 * `vectors`, and its Azure variant serves `azure`. The demo protocol serves `demo` and `demo-vectors`. Callers cannot use
 * `staff`.
 */
export async function startMockedService(): Promise<MockedService> {
  const mock = new LLMock({ port: 0, host: '127.0.0.1', chunkSize: 4 });
  mock.on({ userMessage: /weather/i, hasToolResult: true }, { content: 'It is sunny in Paris.' });
  mock.on(
    { userMessage: /weather/i, hasToolResult: false },
    { toolCalls: [{ name: 'get_weather', arguments: '{"city":"Paris"}', id: 'call_weather' }] },
  );
  mock.onMessage(/too fast/i, { error: { message: 'Slow down.', type: 'requests' }, status: 429 });
  mock.onMessage(/too long/i, {
    error: { message: 'Too many tokens.', type: 'invalid_request_error', param: 'messages', code: 'context_length_exceeded' },
    status: 400,
  });
  mock.onMessage(/overloaded/i, { error: { message: 'Busy.', type: 'server_error' }, status: 503 });
  mock.onMessage(/broken/i, { error: { message: 'Oops.', type: 'server_error' }, status: 500 });
  mock.onMessage(/hello/i, {
    content: 'Hello! Grüße, 你好 😀, from the mock.',
    usage: { prompt_tokens: 11, completion_tokens: 13 },
  });
  mock.onEmbedding(/.*/, { embedding: vector });
  await mock.start();
  const upstreams = [{ endpoint: `${mock.url}/v1`, key: 'upstream-key', model: 'gpt-4o' }];
  const once = { maxRetryAttempts: 1 };
  return startBefore(
    mock,
    {
      models: {
        gpt: { upstreams, ...once },
        azure: {
          upstreams: [
            { protocol: 'azure', endpoint: `${mock.url}/openai/deployments/gpt-4o`, apiVersion: '2024-10-21', key: 'azure-key' },
          ],
          ...once,
        },
        staff: { upstreams, userRoles: ['staff'] },
        demo: { upstreams: [{ protocol: 'demo' }] },
        vectors: { type: 'embedding', upstreams, ...once },
        'demo-vectors': { type: 'embedding', upstreams: [{ protocol: 'demo' }] },
      },
      keys: { [callerKey]: { project: 'clients' } },
    },
    { demoPaceMs: usersDemoPaceMs },
  );
}

/** Starts one node per options object in front of a listening mock. Disposal stops the nodes and the mock. */
export async function startBefore(mock: LLMock, configuration: object, ...options: ServiceOptions[]): Promise<MockedService> {
  const service = await startService(configuration, options[0]);
  const nodes = [service];
  for (const nodeOptions of options.slice(1)) nodes.push(await startService(configuration, nodeOptions));
  return {
    service,
    nodes,
    mock,
    [Symbol.asyncDispose]: async () => {
      for (const node of nodes) await node.close();
      await mock.stop();
    },
  };
}

/** A tool in the OpenAI format with its parameters. */
export const weatherTool = {
  type: 'function' as const,
  function: {
    name: 'get_weather',
    description: 'The weather in a city',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
};
