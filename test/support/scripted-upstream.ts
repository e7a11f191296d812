import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { listeningAt } from './listening.ts';

/** One request as the upstream received it. */
export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body as JSON. */
  readonly body: { [key: string]: unknown };
  /** Whether the other side is still there. */
  readonly isOpen: boolean;
  /** `performance.now()` of the moment the exchange was over; `early` where the other side left before the reply was whole. */
  readonly closed: Promise<{ readonly atMs: number; readonly early: boolean }>;
}

/** The answer to one request, piece by piece. */
export class Answering {
  readonly received: Received;
  readonly response: ServerResponse;

  constructor(received: Received, response: ServerResponse) {
    this.received = received;
    this.response = response;
  }

  head(status = 200, headers: Readonly<Record<string, string>> = { 'content-type': 'text/event-stream' }): void {
    this.response.writeHead(status, headers);
    this.response.flushHeaders();
  }

  /** Sends bytes in a segment of their own: the reader in this process has them once it resolves. */
  async bytes(piece: string | Buffer): Promise<void> {
    await new Promise<void>((resolve) => this.response.write(piece, () => resolve()));
    await nextTurn();
    await nextTurn();
  }

  events(...values: unknown[]): Promise<void> {
    return this.bytes(values.map(toEvent).join(''));
  }

  /** The end mark and the end. */
  done(): void {
    this.response.end('data: [DONE]\n\n');
  }

  /** Closes the connection in the middle. */
  destroyConnection(): void {
    this.response.destroy();
  }

  /** Resets the connection. */
  reset(): void {
    this.response.socket?.resetAndDestroy();
  }
}

export type Reply = (answering: Answering) => void | Promise<void>;

export interface ScriptedUpstream extends AsyncDisposable {
  /** `http://127.0.0.1:port` */
  readonly url: string;
  /** Base address of the OpenAI form. */
  readonly endpoint: string;
  readonly requests: readonly Received[];
  /** Answers the next requests in turn; after them the last one over and over. */
  script(...replies: readonly Reply[]): void;
  /** The nth request, from 0, as soon as it is there. */
  request(index: number): Promise<Received>;
  close(): Promise<void>;
}

/** A real HTTP server that answers as it is told, for exact bytes and faults. */
export async function startScriptedUpstream(...replies: readonly Reply[]): Promise<ScriptedUpstream> {
  let script = [...replies];
  const requests: Received[] = [];
  const waiting: { index: number; resolve: (received: Received) => void }[] = [];
  const server = createServer(async (request, response) => {
    response.socket?.setNoDelay(true);
    const received = await receive(request, response);
    requests.push(received);
    for (const { index, resolve } of waiting) if (index === requests.length - 1) resolve(received);
    const reply = script.length > 1 ? script.shift() : script[0];
    try {
      await reply?.(new Answering(received, response));
    } catch (error) {
      response.destroy();
      throw error;
    }
  });
  server.listen(0, '127.0.0.1');
  await listeningAt(server);
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

/** A refusal in the form of the OpenAI API. */
export function refusal(status: number, headers: Readonly<Record<string, string>> = {}, fields: object = {}): Reply {
  const error = { message: `upstream says ${status}`, type: 'upstream_type', param: null, code: null, ...fields };
  return jsonReply({ error }, status, headers);
}

/** A whole stream: the events in one segment, then the end mark. */
export function eventsReply(...values: unknown[]): Reply {
  return ({ response }) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(`${values.map(toEvent).join('')}data: [DONE]\n\n`);
  };
}

/** Bytes as they are, each piece in a segment of its own. */
export function piecesReply(...pieces: readonly (string | Buffer)[]): Reply {
  return async (answering) => {
    answering.head();
    for (const piece of pieces) await answering.bytes(piece);
    answering.response.end();
  };
}

/** Never answers. */
export function silence(): void {}

export function toEvent(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

async function receive(request: IncomingMessage, response: ServerResponse): Promise<Received> {
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
