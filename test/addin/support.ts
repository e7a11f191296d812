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
import { listeningAt } from '#test/listening.ts';
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
  ask(asking: TestRequest): Promise<TestResponse>;
  /** A POST of a small body to the messages, from a page. */
  post(headers?: Readonly<Record<string, string>>, body?: string): Promise<TestResponse>;
}

/** The gateway in this process, on a port of its own. */
export async function startGateway(upstreamUrl: string, options: GatewayOptions = {}): Promise<TestGateway> {
  const { models = [], allowedOrigins, trustedProxies = [], timeouts, bounds } = options;
  const records: AddinRecord[] = [];
  const upstream = new Upstream(new URL(upstreamUrl), timeouts);
  const gateway = new AddinGateway({
    upstream,
    rules: () => toRules(models, allowedOrigins),
    bounds: bounds ?? { maxBytes: 1024 * 1024, wholeBytes: 64 * 1024 },
    isTrustedProxy: createNetworkMatcher(trustedProxies),
    clock: systemClock,
    onEnd: (record) => void records.push(record),
  });
  const server = createAddinServer(gateway.handle) as Server;
  await listeningAt(server.listen(0, '127.0.0.1'));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    gateway,
    server,
    records,
    ask: (asking) => sendRequest(url, asking),
    post: (headers = {}, body = '{}') =>
      sendRequest(url, { path: messagesPath, headers: { origin, 'x-api-key': 'the-key', ...headers }, body }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      upstream.close();
    },
  };
}

/** An upstream that ends its stream once it may go on. */
export function startHeldUpstream(goOn: Promise<void>): Promise<ScriptedUpstream> {
  return startScriptedUpstream(async (answering) => {
    answering.head();
    await answering.bytes('data: one\n\n');
    await goOn;
    answering.done();
  });
}

/** A caller's bare connection. */
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

  /** Resolves when what came fits. */
  async until(pattern: RegExp): Promise<string> {
    while (!pattern.test(this.text)) {
      if (this.socket.destroyed) throw new Error(`closed before ${pattern}: ${this.text}`);
      await Promise.race([once(this.socket, 'data'), this.closed]);
    }
    return this.text;
  }
}

/** Sends bytes, and gives all that came back until the other side closed. */
export async function askRaw(url: string, text: string): Promise<string> {
  const caller = new RawCaller(url);
  caller.send(text);
  await caller.closed;
  return caller.text;
}

export interface RawUpstream extends AsyncDisposable {
  readonly url: string;
  /** What came, one text a connection. */
  readonly heard: readonly string[];
  openCount(): number;
  /** Hands over each new connection before anything came. */
  onConnection(handle: (socket: Socket) => void): void;
}

/** A bare server that hands each connection over once a request with its head, and the body its length tells, is there. */
export async function startRawUpstream(serve: (socket: Socket, text: string) => void): Promise<RawUpstream> {
  const heard: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    const at = heard.push('') - 1;
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.setEncoding('latin1').on('error', () => undefined);
    socket.on('data', (piece: string) => {
      heard[at] += piece;
      const text = heard[at] ?? '';
      const end = text.indexOf('\r\n\r\n') + 4;
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(text)?.[1] ?? 0);
      if (end > 3 && text.length >= end + length) serve(socket, text);
    });
  });
  await listeningAt(server.listen(0, '127.0.0.1'));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    heard,
    openCount: () => sockets.size,
    onConnection: (handle) => void server.on('connection', handle),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
