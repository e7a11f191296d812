import { AsyncLocalStorage } from 'node:async_hooks';
import type { Client, PriorDiscovery, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { isJsonObject, tryParseJson } from '#base/json/json.ts';
import type { Fetch } from '#base/net/guarded-fetch.ts';
import { raceAbort } from '#base/stream/race-abort.ts';
import type { McpToolsetSettings } from '#domain/quick-app/quick-app.ts';
import type { ToolError } from '#domain/tools/tool.ts';
import packageJson from '../../../package.json' with { type: 'json' };
import type { Authorizer } from '../authorization/authorizer.ts';
import { ActiveCalls } from './elicitation.ts';
import { type Message, normalizeReplies } from './normalize-replies.ts';
import {
  createServerError,
  endedEarlyCode,
  isForgottenSession,
  toServerError,
  UnresponsiveServerError,
  unansweredCode,
} from './server-error.ts';
import { type ServerDeadline, ServerFetch } from './server-fetch.ts';

const maxErrorBytes = 4096;

type Sdk = typeof import('@modelcontextprotocol/client');
type Transport = Parameters<Client['connect']>[0];

const clientInfo = { name: packageJson.name, version: packageJson.version };
/** Requests that a server may send. */
const capabilities = { elicitation: { form: {} } };
/** Maximum number of requests of a server that wait for an answer. Each answer is an HTTP request to the server. */
const maxServerRequests = 50;
/** Maximum time for the server to end its session. */
const maxCloseMs = 2_000;
/**
 * Maximum delay of a timer. The request timeout of the SDK would include the wait for credentials, so this value effectively
 * disables it.
 */
const maxTimerMs = 2 ** 31 - 1;
/** Minimum delay before a reconnection. Servers can request a shorter delay, or one that exceeds the maximum of a timer. */
const minReconnectionMs = 250;
const reconnectionOptions = {
  initialReconnectionDelay: 1_000,
  maxReconnectionDelay: 30_000,
  reconnectionDelayGrowFactor: 1.5,
  maxRetries: 2,
};

export interface ConnectionOptions {
  readonly settings: McpToolsetSettings;
  /** `fetch` with a network guard. */
  readonly fetch: Fetch;
  readonly authorizer: Authorizer;
  /** Maximum number of milliseconds for connecting, and separately for obtaining credentials. */
  readonly connectMs: number;
  /** Protocol revision that an earlier connection with the same credentials negotiated. If undefined, it is negotiated. */
  readonly revision: PriorDiscovery | undefined;
  /** Called when the server reports that its tools have changed. */
  readonly onToolsChanged: () => void;
  /** Returns whether a caller waits for a response. If not, a broken stream is not resumed. */
  readonly isBusy: () => boolean;
}

/** A connected MCP client: a session of the 2025 revisions of MCP, or the discovered state of a stateless server. */
export class Connection {
  readonly client: Client;
  /** Running tool calls, for servers that ask questions during a call. */
  readonly calls = new ActiveCalls();
  /** Masks the credentials in a text of the server. */
  readonly mask: (text: string) => string;
  readonly #transport: Transport;
  readonly #server: ServerFetch;
  readonly #endController: AbortController;

  private constructor(
    client: Client,
    transport: Transport,
    { server, endController }: { server: ServerFetch; endController: AbortController },
  ) {
    this.client = client;
    this.mask = server.mask;
    this.#server = server;
    this.#transport = transport;
    this.#endController = endController;
  }

  /** Opens a connection. Rejects with `ToolError`. */
  static async open(options: ConnectionOptions): Promise<Connection> {
    const { settings, revision, connectMs } = options;
    const sdk = await import('@modelcontextprotocol/client');
    const endController = new AbortController();
    const server = new ServerFetch({
      ...options,
      maxCredentialsMs: connectMs,
      onTooLarge: (error) => endController.abort(error),
    });
    const onFlood = (): void =>
      endController.abort(createServerError(settings.name, `sent more than ${maxServerRequests} concurrent requests`));
    const transport = createTransport(sdk, options, server.fetch);
    normalizeReplies(transport, { mask: server.mask, accepts: limitServerRequests(transport, onFlood) });
    const client = new sdk.Client(clientInfo, {
      capabilities,
      versionNegotiation: { mode: 'auto' },
      inputRequired: { autoFulfill: false },
    });
    client.setNotificationHandler('notifications/tools/list_changed', options.onToolsChanged);
    const connection = new Connection(client, transport, { server, endController });
    client.setRequestHandler('elicitation/create', ({ params }, { mcpReq }) => connection.calls.answer(params, mcpReq.signal));
    const prior = settings.protocol === 'sse' ? { kind: 'legacy' as const } : revision;
    const deadline = server.deadlines.start(connectMs);
    try {
      const connecting = client.connect(transport, { timeout: maxTimerMs, ...(prior && { prior }) });
      await raceAbort(connecting, AbortSignal.any([deadline.signal, endController.signal]));
    } catch (error) {
      await transport.close();
      if (deadline.signal.aborted)
        throw new UnresponsiveServerError(settings.name, `did not answer within ${connectMs / 1000} s`, error);
      throw server.lastError ?? toServerError(settings.name, error);
    } finally {
      deadline.end();
    }
    connection.#watch(settings.name, sdk);
    return connection;
  }

  /** Aborted when the connection is no longer usable, with a `ToolError` as the reason. */
  get endSignal(): AbortSignal {
    return this.#endController.signal;
  }

  /** Starts a time limit that does not count the wait for credentials. */
  startDeadline(timeoutMs: number): ServerDeadline {
    return this.#server.deadlines.start(timeoutMs);
  }

  /** Whether the server uses the 2026-07-28 revision. Its requests are independent of each other. */
  get isStateless(): boolean {
    return this.client.getProtocolEra() === 'modern';
  }

  /** The negotiated revision, for later connections. */
  get revision(): PriorDiscovery {
    const discover = this.client.getDiscoverResult();
    return discover === undefined ? { kind: 'legacy' } : { kind: 'modern', discover };
  }

  /** Returns whether the server rejected the request because it no longer knows the session. */
  hasExpired(error: unknown): boolean {
    return !this.isStateless && isForgottenSession(error, { hasSessionId: this.#transport.sessionId !== undefined });
  }

  /** Closes the connection, and ends the session on the server. */
  async close(): Promise<void> {
    const { terminateSession } = this.#transport as Partial<StreamableHTTPClientTransport>;
    const ending = terminateSession?.call(this.#transport) ?? Promise.resolve();
    await raceAbort(ending, AbortSignal.timeout(maxCloseMs)).catch(() => undefined);
    await this.client.close();
  }

  #watch(server: string, sdk: Sdk): void {
    const end = (error: ToolError): void => this.#endController.abort(error);
    this.client.onclose = () => end(createServerError(server, 'closed the connection'));
    // A broken stream of the older transport would reconnect as a new session that Parley did not open.
    this.client.onerror = (error) => {
      if (error instanceof sdk.SseError) end(createServerError(server, 'closed the connection', error));
    };
    this.endSignal.addEventListener('abort', () => void this.client.close(), { once: true });
    if (this.endSignal.aborted) void this.client.close();
  }
}

function createTransport(sdk: Sdk, { settings, isBusy }: ConnectionOptions, fetch: Fetch): Transport {
  const url = new URL(settings.url);
  if (settings.protocol === 'sse') return new sdk.SSEClientTransport(url, { fetch });
  const replies = new ReplyTracker(fetch);
  const transport = new sdk.StreamableHTTPClientTransport(url, {
    fetch: replies.fetch,
    reconnectionOptions,
    reconnectionScheduler(reconnect, delayMs) {
      const boundedMs = Math.min(Math.max(delayMs, minReconnectionMs), reconnectionOptions.maxReconnectionDelay);
      const timer = setTimeout(() => isBusy() && reconnect(), boundedMs);
      return () => clearTimeout(timer);
    },
  });
  return ensureAnswers(transport, replies);
}

/**
 * Returns a function that decides whether to read a message of the server. When the server has sent too many concurrent
 * requests, it calls `onFlood` and rejects all further messages.
 */
function limitServerRequests(transport: Transport, onFlood: () => void): (message: Message) => boolean {
  const waiting = new Set<unknown>();
  let answering = 0;
  let isFlooding = false;
  const send = transport.send.bind(transport);
  transport.send = async (message, options) => {
    if (Array.isArray(message) || 'method' in message) return send(message, options);
    waiting.delete(message.id);
    answering += 1;
    await send(message, options).finally(() => {
      answering -= 1;
    });
  };
  return (message) => {
    if (isFlooding || !('method' in message)) return !isFlooding;
    if ('id' in message) waiting.add(message.id);
    // The SDK does not answer a request that the server cancels.
    else if (message.method === 'notifications/cancelled') waiting.delete(message.params?.requestId);
    isFlooding = waiting.size + answering > maxServerRequests;
    if (isFlooding) onFlood();
    return !isFlooding;
  };
}

type RequestId = string | number | undefined;

interface Exchange {
  readonly id: RequestId;
  isComplete: boolean;
}

/** Tracks whether the reply to each sent message arrived completely. The SDK does not report this. */
class ReplyTracker {
  readonly #fetch: Fetch;
  readonly #exchanges = new AsyncLocalStorage<Exchange>();

  constructor(fetch: Fetch) {
    this.#fetch = fetch;
  }

  /** `fetch` for the transport that sends the messages. */
  readonly fetch: Fetch = async (url, init) => {
    const response = await this.#fetch(url, init);
    const exchange = this.#exchanges.getStore();
    // A server that responds with 202 may send the answer on the shared stream.
    if (exchange === undefined) return response;
    exchange.isComplete = response.status !== 202 && /^application\/json\b/i.test(response.headers.get('content-type') ?? '');
    return exchange.isComplete && response.status === 200 ? addErrorId(response, exchange.id) : response;
  };

  /** Returns whether the complete reply to the message had arrived when `send` resolved. `id` is the request ID. */
  async trackSend(id: RequestId, send: () => Promise<void>): Promise<boolean> {
    const exchange: Exchange = { id, isComplete: false };
    await this.#exchanges.run(exchange, send);
    return exchange.isComplete;
  }
}

/** Adds the request ID to an error without one. The SDK does not accept errors without an ID. */
async function addErrorId(response: Response, id: RequestId): Promise<Response> {
  const { headers, status } = response;
  if (id === undefined || !(Number(headers.get('content-length') ?? Number.NaN) <= maxErrorBytes)) return response;
  const text = await response.text();
  const message = tryParseJson(text);
  const lacksId = isJsonObject(message) && isJsonObject(message.error) && (message.id ?? undefined) === undefined;
  return new Response(lacksId ? JSON.stringify({ ...message, id }) : text, { status, headers });
}

/** Answers requests whose reply ended without an answer. The SDK would wait forever. It ignores a second answer. */
function ensureAnswers(transport: StreamableHTTPClientTransport, replies: ReplyTracker): Transport {
  const send = transport.send.bind(transport);
  transport.send = async (message, options) => {
    const id = !Array.isArray(message) && 'method' in message && 'id' in message ? message.id : undefined;
    const answer = (code: number): void => {
      if (id === undefined) return;
      transport.onmessage?.({ jsonrpc: '2.0', id, error: { code, message: 'the reply ended without an answer' } });
    };
    const onRequestStreamEnd = (): void => {
      options?.onRequestStreamEnd?.();
      answer(endedEarlyCode);
    };
    if (await replies.trackSend(id, () => send(message, { ...options, onRequestStreamEnd }))) answer(unansweredCode);
  };
  return transport;
}
