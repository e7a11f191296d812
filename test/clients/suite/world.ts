import { findFreePort } from '#test/listening.ts';
import { startProcess } from '#test/start-process.ts';
import { callerKey } from '#test/start-service.ts';
import { type ObservedUpstream, startObservedUpstream } from './observed-upstream.ts';
import { imageBase64, toFixtures } from './replies.ts';
import { startApplication } from './sdk-application.ts';

/** Environment of the programs: upstreams, an application, and the service as a process. */
export interface World extends AsyncDisposable {
  readonly url: string;
  readonly upstream: ObservedUpstream;
  /** Environment variables for the programs. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Starts the environment. `application` returns the command that runs a Python program. */
export async function startWorld(application: (file: string) => readonly string[]): Promise<World> {
  await using stack = new AsyncDisposableStack();
  const upstream = stack.use(await startObservedUpstream(toFixtures()));
  const port = await findFreePort();
  const service = stack.use(await startProcess({ configuration: toConfiguration(upstream.url, port) }));
  stack.use(await startApplication({ toCommand: application, port, url: service.url }));
  const running = stack.move();
  return {
    url: service.url,
    upstream,
    environment: {
      ...{ PARLEY_URL: service.url, PARLEY_KEY: callerKey, PARLEY_IMAGE: imageBase64, KEY: callerKey },
      // Otherwise litellm downloads a list of prices three times.
      LITELLM_LOCAL_MODEL_COST_MAP: 'True',
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

function toConfiguration(upstreamUrl: string, applicationPort: number): object {
  const openai = { endpoint: `${upstreamUrl}/v1`, key: 'upstream-key', model: 'gpt-4o' };
  const model = { inputAttachmentTypes: ['image/*'], maxRetryAttempts: 1 };
  return {
    models: {
      gpt: { ...model, upstreams: [openai] },
      claude: {
        ...model,
        upstreams: [{ ...openai, protocol: 'anthropic', model: 'claude-sonnet-4-5' }],
        limits: { maxCompletionTokens: 8192 },
      },
      // The snippets of the page use this model, because `npm start` provides it.
      demo: { ...model, upstreams: [openai] },
      busy: { ...model, upstreams: [{ ...openai, model: 'gpt-busy' }] },
      staff: { ...model, upstreams: [openai], userRoles: ['staff'] },
    },
    applications: {
      sdk: {
        endpoint: `http://127.0.0.1:${applicationPort}/openai/deployments/sdk/chat/completions`,
        inputAttachmentTypes: ['image/*'],
        dependencies: ['gpt'],
      },
      quick: {
        applicationTypeSchemaId: 'https://parley.example/custom_application_schemas/quickapps',
        inputAttachmentTypes: ['image/*'],
        applicationProperties: { model: 'gpt', temperature: 0, instructions: 'Be brief.' },
      },
    },
    keys: { [callerKey]: { project: 'clients' } },
  };
}
