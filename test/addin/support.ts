import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { HttpTimeouts } from '#base/http/client.ts';
import { createNetworkMatcher } from '#base/http/client-address.ts';
import { systemClock } from '#base/time/clock.ts';
import { AddinGateway, type AddinRecord, type BodyBounds } from '#surfaces/addin/gateway.ts';
import { type AddinModel, toRules } from '#surfaces/addin/rules.ts';
import { createAddinServer } from '#surfaces/addin/server.ts';
import { Upstream } from '#surfaces/addin/upstream.ts';
import { waitUntilListening } from '#test/listening.ts';
import { type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { sendRequest, type TestRequest, type TestResponse } from '#test/send-request.ts';

export const origin = 'https://addin.example';
export const messagesPath = '/msgapi/v1/messages';

export interface GatewayOptions {
  readonly models?: readonly AddinModel[];
  readonly allowedOrigins?: readonly string[];
  readonly trustedProxies?: readonly string[];
  readonly timeouts?: HttpTimeouts;
  readonly bounds?: BodyBounds;
}

export interface TestGateway extends AsyncDisposable {
  readonly url: string;
  readonly gateway: AddinGateway;
  readonly server: Server;
  readonly records: readonly AddinRecord[];
  ask(request: TestRequest): Promise<TestResponse>;
  /** Sends a POST request with a small body to the messages path, with the origin of a page. */
  post(headers?: Readonly<Record<string, string>>, body?: string): Promise<TestResponse>;
}

/** Starts the gateway in this process on a free port. */
export async function startGateway(upstreamUrl: string, options: GatewayOptions = {}): Promise<TestGateway> {
  const { models = [], allowedOrigins, trustedProxies = [], timeouts, bounds } = options;
  const records: AddinRecord[] = [];
  const upstream = new Upstream(new URL(upstreamUrl), timeouts);
  const gateway = new AddinGateway({
    upstream,
    rules: () => toRules(models, allowedOrigins),
    bounds: bounds ?? { maxBytes: 1024 * 1024, maxBufferedBytes: 64 * 1024 },
    isTrustedProxy: createNetworkMatcher(trustedProxies),
    clock: systemClock,
    onEnd: (record) => void records.push(record),
  });
  const server = createAddinServer(gateway.handle) as Server;
  await waitUntilListening(server.listen(0, '127.0.0.1'));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    gateway,
    server,
    records,
    ask: (request) => sendRequest(url, request),
    post: (headers = {}, body = '{}') =>
      sendRequest(url, { path: messagesPath, headers: { origin, 'x-api-key': 'the-key', ...headers }, body }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      upstream.close();
    },
  };
}

/** Starts an upstream that ends its stream after this promise resolves. */
export function startHeldUpstream(canContinue: Promise<void>): Promise<ScriptedUpstream> {
  return startScriptedUpstream(async (exchange) => {
    exchange.head();
    await exchange.bytes('data: one\n\n');
    await canContinue;
    exchange.done();
  });
}

/** A raw TCP connection of a client. */
export class RawCaller {
  readonly socket: Socket;
  text = '';
  readonly closed: Promise<void>;

  constructor(url: string) {
    const { hostname, port } = new URL(url);
    this.socket = connect(Number(port), hostname);
    this.socket.setEncoding('latin1').on('data', (piece: string) => {
      this.text += piece;
    });
    this.socket.on('error', () => undefined);
    this.closed = new Promise((resolve) => this.socket.once('close', () => resolve()));
  }

  send(text: string): void {
    this.socket.write(text, 'latin1');
  }

  /** Resolves when the received text matches the pattern. */
  async until(pattern: RegExp): Promise<string> {
    while (!pattern.test(this.text)) {
      if (this.socket.destroyed) throw new Error(`closed before ${pattern}: ${this.text}`);
      await Promise.race([once(this.socket, 'data'), this.closed]);
    }
    return this.text;
  }
}

/** Sends bytes, and returns the bytes that arrive until the connection closes. */
export async function sendRaw(url: string, text: string): Promise<string> {
  const caller = new RawCaller(url);
  caller.send(text);
  await caller.closed;
  return caller.text;
}

export interface RawUpstream extends AsyncDisposable {
  readonly url: string;
  /** Received text of each connection. */
  readonly received: readonly string[];
  openCount(): number;
  /** Calls the handler with each new connection before any bytes arrive. */
  onConnection(handle: (socket: Socket) => void): void;
}

/** Starts a raw server. It calls `serve` after a request arrives with its head and the body length that the head declares. */
export async function startRawUpstream(serve: (socket: Socket, text: string) => void): Promise<RawUpstream> {
  const received: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    const at = received.push('') - 1;
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.setEncoding('latin1').on('error', () => undefined);
    socket.on('data', (piece: string) => {
      received[at] += piece;
      const text = received[at] ?? '';
      const end = text.indexOf('\r\n\r\n') + 4;
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(text)?.[1] ?? 0);
      if (end > 3 && text.length >= end + length) serve(socket, text);
    });
  });
  await waitUntilListening(server.listen(0, '127.0.0.1'));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    openCount: () => sockets.size,
    onConnection: (handle) => void server.on('connection', handle),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
