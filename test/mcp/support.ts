import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { Caches } from '#base/cache/bounded-cache.ts';
import type { Clock } from '#base/time/clock.ts';
import type { McpToolsetSettings } from '#domain/quick-app/quick-app.ts';
import { findFreePort } from '#test/listening.ts';
import { eventsReply, type Reply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import type { TestResponse } from '#test/send-request.ts';
import { startService, type TestService } from '#test/start-service.ts';
import { spawnTied, type TiedProcess } from '#test/tied-process.ts';
import { McpTools } from '#tools/mcp/mcp-tools.ts';
import { openNetwork, toSettings } from './network.ts';

const everything = fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'));
const filesystem = fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-filesystem/dist/index.js'));
const supergateway = fileURLToPath(import.meta.resolve('supergateway/dist/index.js'));

export interface EverythingServer {
  readonly url: string;
  /** Kills the server, including calls in progress. */
  stop(): Promise<void>;
}

/** Starts the reference server with tools of all kinds as a separate process. */
export async function startEverything(transport: 'streamableHttp' | 'sse', port?: number): Promise<EverythingServer> {
  const startAt = (at: number) => startTied(['env', `PORT=${at}`, process.execPath, everything, transport], /on port \d+/);
  const [at, { stop }] = port === undefined ? await startAtFreePort(startAt) : [port, await startAt(port)];
  return { url: `http://127.0.0.1:${at}/${transport === 'sse' ? 'sse' : 'mcp'}`, stop };
}

/** Starts the reference file server for one folder. It speaks stdio, so a gateway serves it over HTTP. */
export async function startFilesystem(folder: string): Promise<{ readonly url: string }> {
  const stdio = [process.execPath, filesystem, folder].join(' ');
  const flags = ['--stdio', stdio, '--outputTransport', 'streamableHttp', '--stateful', '--port'];
  const gateway = ['sh', '-c', 'exec "$@" >&2', 'sh', process.execPath, supergateway, ...flags];
  const [port] = await startAtFreePort((at) => startTied([...gateway, `${at}`], /Listening on port/));
  return { url: `http://127.0.0.1:${port}/mcp` };
}

/** Starts a server at a free port. Another program may take the port first, so it tries a second port. */
async function startAtFreePort<T>(start: (port: number) => Promise<T>): Promise<[port: number, started: T]> {
  const port = await findFreePort();
  try {
    return [port, await start(port)];
  } catch (error) {
    if (!/EADDRINUSE|already in use/.test(String(error))) throw error;
    const another = await findFreePort();
    return [another, await start(another)];
  }
}

/** Runs a server until the test ends. Resolves once its stderr reports that it listens. */
async function startTied(command: readonly string[], listening: RegExp): Promise<TiedProcess> {
  const tied = spawnTied(command, { stopSignal: 'TERM' });
  onTestFinished(tied.stop);
  let output = '';
  await new Promise<void>((resolve, reject) => {
    tied.child.once('close', () => reject(new Error(`the server ended: ${output}`)));
    tied.child.stderr?.on('data', (piece) => {
      output += piece;
      if (listening.test(output)) resolve();
    });
  });
  return tied;
}

/** A request that a test server received. */
export interface RecordedRequest {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  /** The JSON-RPC message. Empty if the body is not JSON. */
  readonly message: { readonly method?: string; readonly params?: { readonly [key: string]: unknown } };
  /** Resolves when the response is closed. */
  readonly closed: Promise<void>;
}

export type Serve = (request: Request) => Response | Promise<Response>;

/** Starts an HTTP server around a web request handler. Records each request. */
export async function startWebServer(serve: Serve) {
  const seen: RecordedRequest[] = [];
  const server = createServer(async (incoming, outgoing) => {
    const body = await buffer(incoming);
    seen.push(toRecordedRequest(incoming, outgoing, body));
    const controller = new AbortController();
    outgoing.once('close', () => controller.abort());
    const response = await serve(toRequest(incoming, body, controller.signal));
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    outgoing.flushHeaders();
    if (response.body === null) outgoing.end();
    else
      Readable.fromWeb(response.body as Parameters<typeof Readable.fromWeb>[0])
        .on('error', () => outgoing.destroy())
        .pipe(outgoing);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stop = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  onTestFinished(stop);
  const { port } = server.address() as AddressInfo;
  const asked = (method: string): RecordedRequest[] => seen.filter(({ message }) => message.method === method);
  return { url: `http://127.0.0.1:${port}/mcp`, port, seen, asked, stop };
}

function toRecordedRequest({ method = '', headers }: IncomingMessage, outgoing: ServerResponse, body: Buffer): RecordedRequest {
  const closed = new Promise<void>((resolve) => outgoing.once('close', () => resolve()));
  const isJson = headers['content-type'] === 'application/json';
  return { method, headers, message: isJson ? JSON.parse(body.toString()) : {}, closed };
}

function toRequest({ method = 'GET', headers, url = '/' }: IncomingMessage, body: Buffer, signal: AbortSignal): Request {
  const headerEntries = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]);
  const hasBody = method === 'POST';
  return new Request(`http://${headers.host}${url}`, {
    method,
    headers: headerEntries,
    signal,
    ...(hasBody && { body: new Uint8Array(body) }),
  });
}

/** Settings of a toolset. The default protocol is `streamable_http`. */
export interface Toolset {
  readonly url: string;
  readonly protocol?: 'streamable_http' | 'sse';
  readonly authorization?: object;
  readonly allowed_tools?: readonly string[];
  readonly resources?: boolean;
  readonly prompts?: boolean;
}

export interface AppUnderTest {
  readonly service: TestService;
  readonly model: ScriptedUpstream;
}

export interface AppOptions {
  /** Replaces top-level keys of the configuration. */
  readonly configuration?: object;
  /** Additional properties of the quick app. */
  readonly properties?: object;
  /** Additional fields of its model. */
  readonly model?: object;
}

/** Starts a service with the quick app `app`, whose toolset is named `Tools`. Its model sends the scripted replies. */
export async function startApp(
  toolset: Toolset,
  script: readonly Reply[],
  { configuration = {}, properties = {}, model: modelFields = {} }: AppOptions = {},
): Promise<AppUnderTest> {
  const model = await startScriptedUpstream(...script);
  const { url, protocol = 'streamable_http', authorization, ...rest } = toolset;
  const service = await startService({
    models: { model: { upstreams: [{ protocol: 'openai', endpoint: model.endpoint, key: 'upstream-key' }], ...modelFields } },
    applications: {
      app: {
        applicationTypeSchemaId: 'https://host/custom_application_schemas/quickapps',
        applicationProperties: {
          temperature: 0,
          instructions: 'Use the tools.',
          model: 'model',
          mcp_toolset: [
            { type: 'mcp', name: 'Tools', mcp_server_info: { url, protocol, ...(authorization && { authorization }) }, ...rest },
          ],
          ...properties,
        },
      },
    },
    security: { allowPrivateNetworks: ['127.0.0.1'] },
    ...configuration,
  });
  onTestFinished(async () => {
    await service.close();
    await model.close();
  });
  return { service, model };
}

export type ToolCalling = readonly [name: string, args?: object];

/** Creates a model reply that calls tools. */
export function toolCallReply(...toolCalls: readonly ToolCalling[]): Reply {
  const tool_calls = toolCalls.map(([name, args = {}], index) => ({
    index,
    id: `call_${name}_${index}`,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }));
  return eventsReply(chunk({ role: 'assistant', content: null, tool_calls }), chunk({}, 'tool_calls'));
}

/** Creates a model reply with text. */
export function textReply(text: string): Reply {
  return eventsReply(chunk({ role: 'assistant', content: text }), chunk({}, 'stop'));
}

function chunk(delta: object, finish_reason: string | null = null): object {
  return { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] };
}

/** Returns the messages of a request to the model, by its zero-based index. */
export function getMessages(model: ScriptedUpstream, nth: number): { readonly role: string; readonly content: string }[] {
  return (model.requests[nth]?.body.messages ?? []) as { role: string; content: string }[];
}

/** Returns the tool results that the model received. */
export function getToolResults(model: ScriptedUpstream, nth = 1): string[] {
  const results = getMessages(model, nth).filter(({ role }) => role === 'tool');
  return results.map(({ content }) => content);
}

/** Returns the names of the tools in a request to the model. */
export function getOfferedTools(model: ScriptedUpstream, nth = 0): string[] {
  const tools = (model.requests[nth]?.body.tools ?? []) as { function: { name: string } }[];
  return tools.map(({ function: { name } }) => name);
}

export interface ReplyMessage {
  readonly role: 'assistant';
  readonly content?: string;
  readonly function_call?: { readonly name: string };
  readonly custom_content: {
    readonly controls?: readonly object[];
    readonly attachments?: readonly object[];
    readonly stages?: readonly {
      readonly name: string;
      readonly content: string;
      readonly status: string;
      readonly attachments?: object[];
    }[];
  };
}

/** Returns the first choice of the response. */
export function getChoice({ json }: TestResponse): { readonly message: ReplyMessage; readonly finish_reason: string } {
  return (json as { choices: [{ message: ReplyMessage; finish_reason: string }] }).choices[0];
}

export const chatRequest = { messages: [{ role: 'user', content: 'Do it.' }] };

/** Sends the next turn: answers the question in each reply with the control at the same index. */
export function answer(
  service: TestService,
  before: readonly TestResponse[],
  controls: readonly object[],
): Promise<TestResponse> {
  const turns = before.flatMap((reply, nth) => [
    getChoice(reply).message,
    { role: 'user', custom_content: { completed_control: controls[nth] } },
  ]);
  return service.chat('app', { messages: [...chatRequest.messages, ...turns] });
}

/** Creates the control that answers a question of the server. */
export function createAnswer(value: object): object {
  return { label: 'Answer Tools', value };
}

export const decline = { label: 'Decline' };

/** Loads MCP tools without an app, on a clock that advances only through `pass`. */
export function loadMcpTools(url: string, limits: { timeoutMs?: number; connectMs?: number; listMs?: number } = {}) {
  const clock = manualClock();
  const network = { ...openNetwork(clock), ...limits };
  const settings = toSettings(url);
  const tools = new McpTools(clock, new Caches());
  onTestFinished(() => tools.close());
  const load = async (signal = new AbortController().signal, subject = 'user', more: Partial<McpToolsetSettings> = {}) =>
    (await tools.load({ ...settings, ...more }, network, { signal, subject, application: 'app' })).tools;
  return { tools, load, pass: clock.pass };
}

function manualClock(): Clock & { pass: (ms: number) => void } {
  let nowMs = 0;
  const sleeping: { untilMs: number; wake: () => void }[] = [];
  return {
    nowMs: () => nowMs,
    epochMs: () => nowMs,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        sleeping.push({ untilMs: nowMs + ms, wake: resolve });
        signal.addEventListener('abort', () => reject(signal.reason));
      }),
    pass(ms) {
      nowMs += ms;
      for (const { untilMs, wake } of sleeping) if (untilMs <= nowMs) wake();
    },
  };
}
