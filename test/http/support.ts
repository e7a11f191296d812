import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterEach } from 'vitest';
import type {
  HttpClient,
  HttpClientOptions,
  HttpError,
  HttpRequest,
  HttpTimeouts,
  ReplyHeaders,
  ReplyListener,
} from '#base/http/client.ts';
import { LeanClient } from '#base/http/lean-client.ts';
import { UndiciClient } from '#test/undici-client.ts';

export const serverKey = readFileSync(new URL('fixtures/server-key.pem', import.meta.url), 'utf8');
export const serverCert = readFileSync(new URL('fixtures/server-cert.pem', import.meta.url), 'utf8');

/** Both clients. Each test with `clientKinds` applies to both. */
export const clientKinds: [string, new (options?: HttpClientOptions) => HttpClient][] = [
  ['LeanClient', LeanClient],
  ['UndiciClient', UndiciClient],
];

/** Returns a factory for clients, which are closed after each test. */
export function createFactory(Client: (typeof clientKinds)[number][1]): (options?: HttpClientOptions) => HttpClient {
  const open: HttpClient[] = [];
  afterEach(() => {
    for (const client of open.splice(0)) client.close();
  });
  return (options) => {
    const client = new Client(options);
    open.push(client);
    return client;
  };
}

export const longTimeouts: HttpTimeouts = { connectMs: 60_000, firstByteMs: 60_000, idleMs: 60_000 };

export function toRequest(url: string, more: Partial<HttpRequest> = {}): HttpRequest {
  return { method: 'GET', url: new URL(url), headers: {}, body: null, timeouts: longTimeouts, ...more };
}

export function toPost(url: string, body: string | Buffer, more: Partial<HttpRequest> = {}): HttpRequest {
  return toRequest(url, { method: 'POST', body: Buffer.from(body), ...more });
}

/** Records the events of one reply. */
export class Recording implements ReplyListener {
  status = 0;
  headers: ReplyHeaders = {};
  pieces: string[] = [];
  calls: string[] = [];
  error: HttpError | null = null;
  readonly settled: Promise<this>;
  onHead: () => void = () => undefined;
  onBytes: (text: string) => void = () => undefined;
  #settle: () => void = () => undefined;

  constructor() {
    this.settled = new Promise((resolve) => {
      this.#settle = () => resolve(this);
    });
  }

  get body(): string {
    return this.pieces.join('');
  }

  head(status: number, headers: ReplyHeaders): void {
    this.calls.push('head');
    this.status = status;
    this.headers = headers;
    this.onHead();
  }

  bytes(text: string): void {
    this.calls.push('bytes');
    this.pieces.push(text);
    this.onBytes(text);
  }

  end(): void {
    this.calls.push('end');
    this.#settle();
  }

  fail(error: HttpError): void {
    this.calls.push('fail');
    this.error = error;
    this.#settle();
  }
}

/** Sends a POST request and reads the reply to its end or error. */
export function post(
  client: HttpClient,
  url: string,
  body: string | Buffer = '{"a":1}',
  more: Partial<HttpRequest> = {},
): Promise<Recording> {
  const recording = new Recording();
  client.send(toPost(url, body, more), recording);
  return recording.settled;
}

/** Servers of one test. Disposal closes them and their sockets. */
export class Servers implements AsyncDisposable {
  readonly sockets: Socket[] = [];
  readonly #servers: Server[] = [];

  async listen(server: Server): Promise<number> {
    this.#servers.push(server);
    server.on('connection', (socket: Socket) => {
      this.sockets.push(socket);
      socket.on('error', () => undefined);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  }

  /** Starts a TCP server and returns its URL. */
  async startRaw(onSocket: (socket: Socket, nth: number) => void): Promise<string> {
    let count = 0;
    const port = await this.listen(createServer({ noDelay: true }, (socket) => onSocket(socket, count++)));
    return `http://127.0.0.1:${port}/`;
  }

  /** Starts a server that answers each data event with `reply` and optionally closes the socket. Returns its URL. */
  startReplying(reply: string, closesSocket = false): Promise<string> {
    return this.startRaw((socket) => {
      socket.on('data', () => {
        if (closesSocket) socket.end(reply, 'latin1');
        else socket.write(reply, 'latin1');
      });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    for (const server of this.#servers) server.close();
  }
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

export async function waitUntil(isTrue: () => boolean, timeoutMs = 30_000): Promise<void> {
  const endMs = performance.now() + timeoutMs;
  while (!isTrue()) {
    if (performance.now() > endMs) throw new Error(`not true within ${timeoutMs} ms: ${isTrue}`);
    await sleep(5);
  }
}
