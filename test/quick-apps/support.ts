import type { TraceItem } from '#agent/quick-app/trace-run.ts';
import { isJsonObject } from '#base/json/json.ts';
import type { Chunk, Completion, StageDelta } from '#contract/chat/chunk.ts';
import { delta, finish, text, usage } from '#test/chunks.ts';
import { eventsReply, type Reply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import type { TestResponse } from '#test/send-request.ts';
import { type ServiceOptions, startService, type TestService } from '#test/start-service.ts';

const schemaId = 'https://any.example/custom_application_schemas/quickapps';

/** An entry of `applications` that runs without code, with the scripted model where nothing else is said. */
export function quickApp(properties: object = {}, fields: object = {}): Record<string, unknown> {
  return {
    applicationTypeSchemaId: schemaId,
    applicationProperties: { temperature: 0.25, instructions: 'Be kind.', model: 'model', ...properties },
    ...fields,
  };
}

/** Settings with a web API whose operations lie each at the path of its name. */
export function operationsOf(api: Pick<ScriptedUpstream, 'url'>, ...names: readonly string[]): { web_api_toolset: object[] } {
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

/** A message as the model is sent it. */
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

/** A quick app, a model that says what it is told, and what the model was asked. */
export interface Rig extends AsyncDisposable {
  readonly service: TestService;
  readonly model: ScriptedUpstream;
  /** Asks the application `app`, without a stream. */
  chat(messages: readonly object[] | string, fields?: object, headers?: Record<string, string>): Promise<TestResponse>;
  /** The messages of the nth request to the model, the last one where nothing is said. */
  sent(nth?: number): SentMessage[];
  /** The tools that it was offered. */
  offered(nth?: number): OfferedTool[];
}

interface RigParts {
  /** Settings of the application `app`. */
  readonly app: object;
  readonly replies: readonly Reply[];
  /** The entry of the model at that address; absent: one without further fields. */
  readonly model?: (endpoint: string) => object;
  /** More of the configuration; its `applications` stand beside `app`. */
  readonly configuration?: { readonly applications?: object; readonly models?: object } & Record<string, unknown>;
  readonly options?: ServiceOptions;
}

/** The same with nothing but settings and replies. */
export function rigOf(app: object, ...replies: readonly Reply[]): Promise<Rig> {
  return startRig({ app, replies });
}

export async function startRig({ app, replies, model: toModel, configuration = {}, options }: RigParts): Promise<Rig> {
  const model = await startScriptedUpstream(...replies);
  const { applications = {}, models = {}, ...more } = configuration;
  const service = await startService(
    {
      models: { model: toModel?.(model.endpoint) ?? { upstreams: [{ endpoint: model.endpoint }] }, ...models },
      applications: { app: quickApp(app), ...applications },
      security: { allowPrivateNetworks: ['127.0.0.1'] },
      ...more,
    },
    options,
  );
  const bodyOf = (nth: number) => model.requests.at(nth)?.body ?? {};
  return {
    service,
    model,
    chat(said, fields = {}, headers = {}) {
      const messages = typeof said === 'string' ? [user(said)] : said;
      return service.chat('app', { messages, ...fields }, headers);
    },
    sent: (nth = -1) => bodyOf(nth).messages as SentMessage[],
    offered: (nth = -1) => (bodyOf(nth).tools ?? []) as OfferedTool[],
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
  return eventsReply(delta({ role: 'assistant', content: '' }), ...texts.map((each) => text(each)), finish(), usage(10, 2));
}

type Wanted = readonly [name: string, args: unknown];

/** A reply that calls tools, after a text where one is given. Ids are `call_0`, `call_1`, … */
export function calls(...wanted: readonly (Wanted | string)[]): Reply {
  const chunks: Chunk[] = [delta({ role: 'assistant', content: null } as never)];
  let index = 0;
  for (const each of wanted) {
    if (typeof each === 'string') chunks.push(text(each));
    else chunks.push(delta({ tool_calls: [toCall(each, index++)] } as never));
  }
  return eventsReply(...chunks, finish('tool_calls'), usage(10, 2));
}

function toCall([name, args]: Wanted, index: number): object {
  const written = typeof args === 'string' ? args : JSON.stringify(args);
  return { index, id: `call_${index}`, type: 'function', function: { name, arguments: written } };
}

export function messageOf({ completion }: TestResponse): Completion['choices'][number]['message'] {
  const message = completion.choices[0]?.message;
  if (message === undefined) throw new Error('there is no message');
  return message;
}

/** Returns the trace of a run that was requested with `X-Parley-Trace`. It is empty if the reply has none. */
export function getTrace(answered: TestResponse): readonly TraceItem[] {
  return readTrace(messageOf(answered).custom_content);
}

export function readTrace(custom: unknown): readonly TraceItem[] {
  return isJsonObject(custom) && Array.isArray(custom.trace) ? (custom.trace as TraceItem[]) : [];
}

export function stagesOf(answered: TestResponse): StageDelta[] {
  return messageOf(answered).custom_content?.stages ?? [];
}

/** What the tools told the model in its last request, in order. */
export function toldTo(rig: Rig): (string | null)[] {
  return rig.sent().flatMap(({ role, content }) => (role === 'tool' ? [content] : []));
}
