import type { TraceItem } from '#agent/quick-app/trace-run.ts';
import { isJsonObject } from '#base/json/json.ts';
import type { Chunk, Completion, StageDelta } from '#contract/chat/chunk.ts';
import { delta, finish, text, usage } from '#test/chunks.ts';
import { eventsReply, type Reply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import type { TestResponse } from '#test/send-request.ts';
import { type ServiceOptions, startService, type TestService } from '#test/start-service.ts';

const schemaId = 'https://any.example/custom_application_schemas/quickapps';

/** Returns an application that runs without code, by default with the scripted model. */
export function quickApp(properties: object = {}, fields: object = {}): Record<string, unknown> {
  return {
    applicationTypeSchemaId: schemaId,
    applicationProperties: { temperature: 0.25, instructions: 'Be kind.', model: 'model', ...properties },
    ...fields,
  };
}

/** Returns settings with a web API that has one operation per name, at the path of that name. */
export function buildOperations(api: Pick<ScriptedUpstream, 'url'>, ...names: readonly string[]): { web_api_toolset: object[] } {
  const toTool = (name: string): object => ({
    rest_api_method_info: { method_url: `${api.url}/${name}`, method_type: 'get' },
    open_ai_tool: { type: 'function', function: { name, description: `Does ${name}.`, parameters: { type: 'object' } } },
  });
  return { web_api_toolset: [{ type: 'rest-api', name: 'API', tools: names.map(toTool) }] };
}

interface ToolCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

/** A message in a request to the model. */
export interface SentMessage {
  readonly role: string;
  readonly content: string | null;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly ToolCall[];
}

interface OfferedTool {
  readonly type: 'function';
  readonly function: { readonly name: string; readonly description: string; readonly parameters: object };
}

/** A quick app, a model with scripted replies, and the requests to the model. */
export interface Rig extends AsyncDisposable {
  readonly service: TestService;
  readonly model: ScriptedUpstream;
  /** Sends a request to the application `app` without streaming. */
  chat(messages: readonly object[] | string, fields?: object, headers?: Record<string, string>): Promise<TestResponse>;
  /** Returns the messages of the nth request to the model, by default of the last one. */
  sent(index?: number): SentMessage[];
  /** Returns the tools that the model was offered. */
  offered(index?: number): OfferedTool[];
}

interface RigParts {
  /** Settings of the application `app`. */
  readonly app: object;
  readonly replies: readonly Reply[];
  /** Returns the configuration of the model at that endpoint. By default, it has no further fields. */
  readonly model?: (endpoint: string) => object;
  /** Other sections of the configuration. Its `applications` are added to `app`. */
  readonly configuration?: { readonly applications?: object; readonly models?: object } & Record<string, unknown>;
  readonly options?: ServiceOptions;
}

/** Starts a rig with settings and replies only. */
export function startRigWith(app: object, ...replies: readonly Reply[]): Promise<Rig> {
  return startRig({ app, replies });
}

export async function startRig({ app, replies, model: toModel, configuration = {}, options }: RigParts): Promise<Rig> {
  const model = await startScriptedUpstream(...replies);
  const { applications = {}, models = {}, ...otherSections } = configuration;
  const service = await startService(
    {
      models: { model: toModel?.(model.endpoint) ?? { upstreams: [{ endpoint: model.endpoint }] }, ...models },
      applications: { app: quickApp(app), ...applications },
      security: { allowPrivateNetworks: ['127.0.0.1'] },
      ...otherSections,
    },
    options,
  );
  const getBody = (index: number) => model.requests.at(index)?.body ?? {};
  return {
    service,
    model,
    chat(input, fields = {}, headers = {}) {
      const messages = typeof input === 'string' ? [user(input)] : input;
      return service.chat('app', { messages, ...fields }, headers);
    },
    sent: (index = -1) => getBody(index).messages as SentMessage[],
    offered: (index = -1) => (getBody(index).tools ?? []) as OfferedTool[],
    async [Symbol.asyncDispose]() {
      await service.close();
      await model.close();
    },
  };
}

export function user(content: string): object {
  return { role: 'user', content };
}

export function says(...texts: string[]): Reply {
  return eventsReply(delta({ role: 'assistant', content: '' }), ...texts.map((content) => text(content)), finish(), usage(10, 2));
}

type RequestedCall = readonly [name: string, args: unknown];

/** Returns a reply that calls tools, optionally after texts. The IDs are `call_0`, `call_1`, … */
export function calls(...parts: readonly (RequestedCall | string)[]): Reply {
  const chunks: Chunk[] = [delta({ role: 'assistant', content: null } as never)];
  let index = 0;
  for (const part of parts) {
    if (typeof part === 'string') chunks.push(text(part));
    else chunks.push(delta({ tool_calls: [toCall(part, index++)] } as never));
  }
  return eventsReply(...chunks, finish('tool_calls'), usage(10, 2));
}

function toCall([name, args]: RequestedCall, index: number): object {
  const json = typeof args === 'string' ? args : JSON.stringify(args);
  return { index, id: `call_${index}`, type: 'function', function: { name, arguments: json } };
}

export function getMessage({ completion }: TestResponse): Completion['choices'][number]['message'] {
  const message = completion.choices[0]?.message;
  if (message === undefined) throw new Error('there is no message');
  return message;
}

/** Returns the trace of a run that was requested with `X-Parley-Trace`. It is empty if the reply has none. */
export function getTrace(response: TestResponse): readonly TraceItem[] {
  return readTrace(getMessage(response).custom_content);
}

export function readTrace(custom: unknown): readonly TraceItem[] {
  return isJsonObject(custom) && Array.isArray(custom.trace) ? (custom.trace as TraceItem[]) : [];
}

export function getStages(response: TestResponse): StageDelta[] {
  return getMessage(response).custom_content?.stages ?? [];
}

/** Returns the tool messages of the last request to the model, in order. */
export function getToolMessages(rig: Rig): (string | null)[] {
  return rig.sent().flatMap(({ role, content }) => (role === 'tool' ? [content] : []));
}
