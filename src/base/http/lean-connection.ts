import { isIP, type LookupFunction, connect as netConnect, type OnReadOpts, type Socket } from 'node:net';
import { type ConnectionOptions, connect as tlsConnect } from 'node:tls';
import { type HttpClientOptions, HttpError, isStreamed, maxJoinedBodyBytes, type StreamedBody } from './client.ts';
import type { LeanExchange } from './lean-exchange.ts';
import { noHeaders, ReplyParser } from './reply-parser.ts';
import { waitForDrain } from './wait-for-drain.ts';

/**
 * Maximum time between a request on a reused connection and a close that the server sent before it received the request. After
 * this time, the server may have started to process the request.
 */
const maxCrossedCloseMs = 1000;

/** Callbacks from a connection to its pool. */
export interface ConnectionOwner {
  /** Called when the reply is complete and the connection can carry another request. */
  onReleased(connection: LeanConnection, keepAliveMs: number): void;
  /** Called when the exchange must be sent again on a new connection. */
  resend(exchange: LeanExchange): void;
  onClosed(connection: LeanConnection): void;
  onSession(session: Buffer): void;
}

/** Target of a connection. */
export interface ConnectionTarget {
  readonly isSecure: boolean;
  /** Host name or literal address. IPv6 addresses have no brackets. */
  readonly host: string;
  readonly port: number;
  /** See `HttpClientOptions`. */
  readonly ca: string | undefined;
  readonly lookup: LookupFunction | undefined;
  /** Shared by all connections: each read is copied out before any other callback runs. */
  readonly readBuffer: Buffer;
}

/** Returns the target of the connections to the origin of a URL. */
export function toConnectionTarget(url: URL, readBuffer: Buffer, { ca, lookup }: HttpClientOptions = {}): ConnectionTarget {
  const isSecure = url.protocol === 'https:';
  const port = url.port === '' ? (isSecure ? 443 : 80) : Number(url.port);
  return { isSecure, host: url.hostname.replace(/^\[|\]$/g, ''), port, ca, lookup, readBuffer };
}

/** Keep-alive connection that carries one exchange at a time. */
export class LeanConnection {
  /** End of the idle time on the clock of `performance.now`. Valid while the connection is idle. */
  idleUntilMs = 0;
  isClosed = false;
  readonly #owner: ConnectionOwner;
  readonly #socket: Socket;
  readonly #parser = new ReplyParser();
  #exchange: LeanExchange | null;
  #error: Error | null = null;
  #wasUsed = false;
  #hasReceivedReply = false;
  #sentAtMs = 0;
  /** Whether the request of the exchange is written, at least in part. */
  #isWritten = false;
  #isPaused = false;
  /** Whether the end of a streamed body is not sent yet. */
  #isStreaming = false;

  /** Writes the request, unless its exchange has ended. */
  static #write(connection: LeanConnection, exchange: LeanExchange): void {
    if (connection.#exchange !== exchange) return;
    connection.#sentAtMs = performance.now();
    connection.#isWritten = true;
    const socket = connection.#socket;
    const { requestHead, body } = exchange;
    if (typeof body === 'string') {
      socket.write(requestHead + body, 'latin1');
    } else if (Buffer.isBuffer(body) && body.length <= maxJoinedBodyBytes) {
      socket.write(requestHead + body.toString('latin1'), 'latin1');
    } else if (isStreamed(body)) {
      socket.write(requestHead, 'latin1');
      exchange.onSending(connection, false);
      void connection.#stream(exchange, body);
      return;
    } else {
      socket.cork();
      socket.write(requestHead, 'latin1');
      if (Buffer.isBuffer(body)) socket.write(body);
      else for (const piece of body) socket.write(piece, 'latin1');
      socket.uncork();
    }
    exchange.onSent(connection);
  }

  /** Processes one read. Returns true to continue reading. */
  readonly #read = (size: number, buffer: Uint8Array): boolean => {
    const text = (buffer as Buffer).toString('latin1', 0, size);
    const exchange = this.#exchange;
    if (exchange === null) {
      this.destroy();
      return true;
    }
    if (exchange.stage === 'connecting') {
      exchange.fail(new HttpError('malformed', 'the server replied before the request'));
      return true;
    }
    const parser = this.#parser;
    this.#hasReceivedReply = true;
    parser.feed(text);
    if (parser.status !== 0) {
      const { status, headers, content } = parser;
      parser.headers = noHeaders;
      parser.content = '';
      if (exchange.stage === 'waiting' || exchange.stage === 'sending') exchange.head(status, headers);
      if (content !== '' && this.#exchange === exchange) exchange.bytes(content);
    }
    if (this.#exchange !== exchange) return true;
    if (parser.error !== null) exchange.fail(new HttpError('malformed', `the reply is not valid HTTP: ${parser.error}`));
    else if (parser.isDone) this.#finish(exchange);
    return true;
  };

  /** Connects, and sends the exchange as soon as the connection is established. */
  constructor(target: ConnectionTarget, session: Buffer | null, owner: ConnectionOwner, exchange: LeanExchange) {
    this.#owner = owner;
    this.#exchange = exchange;
    const onread: OnReadOpts = { buffer: target.readBuffer, callback: this.#read };
    const socket = target.isSecure ? openTls(target, session, onread) : openTcp(target, onread);
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.once(target.isSecure ? 'secureConnect' : 'connect', () => this.#onConnected());
    if (target.isSecure) socket.on('session', (fresh: Buffer) => owner.onSession(fresh));
    socket.on('end', () => this.#onEnd());
    socket.on('error', (error) => {
      this.#error = error;
    });
    socket.on('close', () => this.#onClose());
    exchange.onConnecting(this);
  }

  /** Sends the exchange at the end of this event loop turn, because consecutive writes wake their reader only once. */
  send(exchange: LeanExchange): void {
    this.#exchange = exchange;
    this.#hasReceivedReply = false;
    this.#isWritten = false;
    exchange.onConnecting(this);
    setImmediate(LeanConnection.#write, this, exchange);
  }

  setPaused(isPaused: boolean): void {
    if (this.#isPaused === isPaused || this.isClosed) return;
    this.#isPaused = isPaused;
    if (isPaused) this.#socket.pause();
    else this.#socket.resume();
  }

  destroy(): void {
    this.#exchange = null;
    this.isClosed = true;
    this.#socket.destroy();
  }

  #onConnected(): void {
    const exchange = this.#exchange;
    if (exchange !== null) LeanConnection.#write(this, exchange);
  }

  /** Writes a streamed body until it or its exchange ends. */
  async #stream(exchange: LeanExchange, { pieces, length }: StreamedBody): Promise<void> {
    const socket = this.#socket;
    const isChunked = length === undefined;
    this.#isStreaming = true;
    try {
      for await (const piece of pieces) {
        if (this.#exchange !== exchange) return;
        if (piece.length === 0) continue;
        socket.cork();
        if (isChunked) socket.write(`${piece.length.toString(16)}\r\n`, 'latin1');
        socket.write(piece);
        if (isChunked) socket.write('\r\n', 'latin1');
        socket.uncork();
        if (socket.writableNeedDrain) await this.#waitForDrain(exchange);
        if (this.#exchange !== exchange) return;
      }
      if (this.#exchange !== exchange) return;
      if (isChunked) socket.write('0\r\n\r\n', 'latin1');
      this.#isStreaming = false;
      this.#sentAtMs = performance.now();
      exchange.onSent(this);
    } catch (cause) {
      if (this.#exchange === exchange) exchange.fail(new HttpError('body', 'the request body failed', cause));
    }
  }

  /** Resolves when the socket accepts more data, or is closed. */
  async #waitForDrain(exchange: LeanExchange): Promise<void> {
    exchange.onSending(this, true);
    await waitForDrain(this.#socket);
    exchange.onSending(this, false);
  }

  #finish(exchange: LeanExchange): void {
    const parser = this.#parser;
    const { keepAliveMs } = parser;
    const isReusable =
      keepAliveMs > 0 && !parser.hasSurplus && !this.#isStreaming && this.#socket.writableLength === 0 && this.#socket.writable;
    parser.reset();
    this.#exchange = null;
    exchange.complete();
    if (isReusable) {
      this.#wasUsed = true;
      if (this.#isPaused) this.setPaused(false);
      this.#owner.onReleased(this, keepAliveMs);
    } else this.destroy();
    exchange.listener.end();
  }

  #onEnd(): void {
    const exchange = this.#exchange;
    if (exchange !== null && this.#error === null && this.#parser.endInput() && exchange.stage === 'body') this.#finish(exchange);
    else this.#onClose();
  }

  #onClose(): void {
    const exchange = this.#exchange;
    this.destroy();
    this.#owner.onClosed(this);
    if (exchange === null) return;
    if (this.#wasUsed && !this.#isWritten) return this.#owner.resend(exchange);
    const wasCrossed = this.#wasUsed && !this.#hasReceivedReply && performance.now() - this.#sentAtMs < maxCrossedCloseMs;
    if (wasCrossed && exchange.mayBeResent) {
      exchange.mayBeResent = false;
      this.#owner.resend(exchange);
    } else exchange.onConnectionLost(this.#error);
  }
}

/** Reads are passed to `onread`. The `data` event is never emitted. */
function openTcp(target: ConnectionTarget, onread: OnReadOpts): Socket {
  const { host, port, lookup } = target;
  return netConnect({ host, port, onread, ...(lookup && { lookup }) });
}

/** Like `openTcp`, but verifies that the server's certificate matches the host. `session` shortens the handshake. */
function openTls(target: ConnectionTarget, session: Buffer | null, onread: OnReadOpts): Socket {
  const { host, port, lookup, ca } = target;
  const options: ConnectionOptions & { onread: OnReadOpts } = {
    host,
    port,
    onread,
    ALPNProtocols: ['http/1.1'],
    ...(isIP(host) === 0 && { servername: host }),
    ...(session && { session }),
    ...(lookup && { lookup }),
    ...(ca !== undefined && { ca }),
  };
  return tlsConnect(options);
}
