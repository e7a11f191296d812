import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { waitUntilListening } from './listening.ts';

/** One request that the upstream received. */
export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body as JSON. */
  readonly body: { [key: string]: unknown };
  /** Whether the connection of the client is open. */
  readonly isOpen: boolean;
  /** `performance.now()` at the end of the exchange. `early` is true if the client disconnected before the reply was complete. */
  readonly closed: Promise<{ readonly atMs: number; readonly early: boolean }>;
}

/** The reply to one request, sent in pieces. */
export class UpstreamExchange {
  readonly received: ReceivedRequest;
  readonly response: ServerResponse;

  constructor(received: ReceivedRequest, response: ServerResponse) {
    this.received = received;
    this.response = response;
  }

  head(status = 200, headers: Readonly<Record<string, string>> = { 'content-type': 'text/event-stream' }): void {
    this.response.writeHead(status, headers);
    this.response.flushHeaders();
  }

  /** Sends bytes in a separate segment. Resolves when a reader in this process has received them. */
  async bytes(piece: string | Buffer): Promise<void> {
    await new Promise<void>((resolve) => this.response.write(piece, () => resolve()));
    await nextTurn();
    await nextTurn();
  }

  events(...values: unknown[]): Promise<void> {
    return this.bytes(values.map(toEvent).join(''));
  }

  /** Sends the end mark and ends the reply. */
  done(): void {
    this.response.end('data: [DONE]\n\n');
  }

  /** Closes the connection before the reply is complete. */
  destroyConnection(): void {
    this.response.destroy();
  }

  /** Resets the connection. */
  reset(): void {
    this.response.socket?.resetAndDestroy();
  }
}

export type Reply = (exchange: UpstreamExchange) => void | Promise<void>;

export interface ScriptedUpstream extends AsyncDisposable {
  /** `http://127.0.0.1:port` */
  readonly url: string;
  /** Base URL of the OpenAI API. */
  readonly endpoint: string;
  readonly requests: readonly ReceivedRequest[];
  /** Replies to the next requests in order. The last reply repeats. */
  script(...replies: readonly Reply[]): void;
  /** Resolves with the nth request, starting at 0, when it arrives. */
  request(index: number): Promise<ReceivedRequest>;
  close(): Promise<void>;
}

/** Starts an HTTP server with scripted replies, for exact bytes and errors. */
export async function startScriptedUpstream(...replies: readonly Reply[]): Promise<ScriptedUpstream> {
  let script = [...replies];
  const requests: ReceivedRequest[] = [];
  const waiting: { index: number; resolve: (received: ReceivedRequest) => void }[] = [];
  const server = createServer(async (request, response) => {
    response.socket?.setNoDelay(true);
    const received = await receive(request, response);
    requests.push(received);
    for (const { index, resolve } of waiting) if (index === requests.length - 1) resolve(received);
    const reply = script.length > 1 ? script.shift() : script[0];
    try {
      await reply?.(new UpstreamExchange(received, response));
    } catch (error) {
      response.destroy();
      throw error;
    }
  });
  server.listen(0, '127.0.0.1');
  await waitUntilListening(server);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return {
    url,
    endpoint: `${url}/v1`,
    requests,
    script(...next) {
      script = [...next];
    },
    request(index) {
      const received = requests[index];
      return received === undefined ? new Promise((resolve) => waiting.push({ index, resolve })) : Promise.resolve(received);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

export function jsonReply(value: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Reply {
  return ({ response }) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(value));
  };
}

/** Creates an error reply in the format of the OpenAI API. */
export function errorReply(status: number, headers: Readonly<Record<string, string>> = {}, fields: object = {}): Reply {
  const error = { message: `upstream says ${status}`, type: 'upstream_type', param: null, code: null, ...fields };
  return jsonReply({ error }, status, headers);
}

/** Creates a complete stream: all events in one segment, then the end mark. */
export function eventsReply(...values: unknown[]): Reply {
  return ({ response }) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(`${values.map(toEvent).join('')}data: [DONE]\n\n`);
  };
}

/** Creates a reply of raw bytes, each piece in a separate segment. */
export function piecesReply(...pieces: readonly (string | Buffer)[]): Reply {
  return async (exchange) => {
    exchange.head();
    for (const piece of pieces) await exchange.bytes(piece);
    exchange.response.end();
  };
}

/** Never replies. */
export function silence(): void {}

export function toEvent(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

async function receive(request: IncomingMessage, response: ServerResponse): Promise<ReceivedRequest> {
  const closed = new Promise<{ atMs: number; early: boolean }>((resolve) => {
    response.once('close', () => resolve({ atMs: performance.now(), early: !response.writableFinished }));
  });
  let body = '';
  request.setEncoding('utf8');
  for await (const piece of request) body += piece;
  return {
    method: request.method ?? '',
    path: request.url ?? '',
    headers: request.headers,
    text: body,
    get body() {
      return JSON.parse(body) as { [key: string]: unknown };
    },
    get isOpen() {
      return !response.closed;
    },
    closed,
  };
}
