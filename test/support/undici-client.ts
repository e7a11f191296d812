import { Agent, type Dispatcher, errors } from 'undici';
import {
  type Exchange,
  type HttpBody,
  type HttpClient,
  type HttpClientOptions,
  HttpError,
  type HttpRequest,
  type ReplyHeaders,
  type ReplyListener,
} from '#base/http/client.ts';
import { findUnsendableError } from '#base/http/header-fields.ts';
import { type Carrier, LeanExchange } from '#base/http/lean-exchange.ts';
import { Sweep } from '#base/time/sweep.ts';

const CONNECT_CEILING_MS = 120_000;
const MAX_HEADER_BYTES = 64 * 1024;

/**
 * HTTP client on top of the `dispatch` function of undici. Opens as many connections per origin as there are exchanges and never
 * resends a request. A limit of undici: an unexpected 100 response closes the connection (error `closed`).
 */
export class UndiciClient implements HttpClient {
  readonly #agent: Agent;
  readonly #sweep = new Sweep();

  constructor(options: HttpClientOptions = {}) {
    this.#agent = new Agent({
      allowH2: false,
      bodyTimeout: 0,
      headersTimeout: 0,
      maxHeaderSize: MAX_HEADER_BYTES,
      connect: { timeout: CONNECT_CEILING_MS, ...options },
    });
  }

  send(request: HttpRequest, listener: ReplyListener): Exchange {
    const exchange = new LeanExchange(request, '', listener, this.#sweep);
    const error = findUnsendableError(request);
    if (error === null) this.#dispatch(request, exchange);
    else process.nextTick(failLater, exchange, error);
    return exchange;
  }

  close(): void {
    this.#agent.close().catch(() => undefined);
  }

  #dispatch(request: HttpRequest, exchange: LeanExchange): void {
    const { url, method, headers } = request;
    const body = toBuffer(request.body);
    this.#agent.dispatch(
      { origin: url.origin, path: url.pathname + url.search, method, headers, body },
      new UndiciCarrier(exchange),
    );
  }
}

function toBuffer(body: HttpRequest['body']): Buffer | null {
  if (typeof body === 'string') return Buffer.from(body, 'latin1');
  return body === null || Buffer.isBuffer(body) ? body : Buffer.from(requireText(body).join(''), 'latin1');
}

function requireText(body: HttpBody): readonly string[] {
  if (Array.isArray(body)) return body;
  throw new Error('this client streams no bodies');
}

function failLater(exchange: LeanExchange, error: HttpError): void {
  exchange.fail(error);
}

/** Runs one exchange on undici. */
class UndiciCarrier implements Carrier, Dispatcher.DispatchHandler {
  readonly #exchange: LeanExchange;
  #controller: Dispatcher.DispatchController | null = null;
  #text = '';
  #flushing = false;

  constructor(exchange: LeanExchange) {
    this.#exchange = exchange;
    exchange.onConnecting(this);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#exchange.stage === 'ended') {
      controller.abort(new Error('the exchange has ended'));
      return;
    }
    this.#controller = controller;
    this.#exchange.onSent(this);
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number): void {
    if (status < 200 || this.#exchange.stage === 'ended') return;
    this.#exchange.head(status, toReplyHeaders(controller.rawHeaders));
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#exchange.stage === 'ended') return;
    this.#text += chunk.toString('latin1');
    if (this.#flushing) return;
    this.#flushing = true;
    process.nextTick(() => this.#flush());
  }

  onResponseEnd(): void {
    this.#flush();
    if (this.#exchange.stage === 'ended') return;
    this.#exchange.complete();
    this.#exchange.listener.end();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#flush();
    if (this.#exchange.stage === 'ended') return;
    const failure = toHttpError(error, this.#exchange.stage === 'connecting');
    if (this.#controller === null) process.nextTick(failLater, this.#exchange, failure);
    else this.#exchange.fail(failure);
  }

  destroy(): void {
    this.#text = '';
    this.#controller?.abort(new Error('the exchange has ended'));
  }

  setPaused(paused: boolean): void {
    if (paused) this.#controller?.pause();
    else this.#controller?.resume();
  }

  /** Passes the data of all reads in this turn on as one piece. */
  #flush(): void {
    this.#flushing = false;
    if (this.#text === '' || this.#exchange.stage === 'ended') return;
    const text = this.#text;
    this.#text = '';
    this.#exchange.bytes(text);
  }
}

function toReplyHeaders(raw: Dispatcher.DispatchController['rawHeaders']): ReplyHeaders {
  const headers: Record<string, string> = Object.create(null);
  if (!Array.isArray(raw)) return headers;
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = toLatin1(raw[index]).toLowerCase();
    const value = toLatin1(raw[index + 1]).replace(/^[ \t]+|[ \t]+$/g, '');
    const before = headers[name];
    headers[name] = before === undefined ? value : `${before}, ${value}`;
  }
  return headers;
}

function toLatin1(part: Buffer | string | undefined): string {
  return typeof part === 'string' ? part : (part?.toString('latin1') ?? '');
}

function toHttpError(error: Error, connecting: boolean): HttpError {
  if (error instanceof errors.ConnectTimeoutError) return new HttpError('connect_timeout', 'no connection in time', error);
  if (error instanceof errors.InvalidArgumentError) return new HttpError('unsendable', 'the request may not be sent', error);
  if (connecting) return new HttpError('connect', 'no connection', error);
  const isMalformed =
    error instanceof errors.HTTPParserError ||
    error instanceof errors.HeadersOverflowError ||
    error instanceof errors.ResponseContentLengthMismatchError ||
    error.message === 'bad upgrade';
  if (isMalformed) return new HttpError('malformed', 'the reply is not valid HTTP', error);
  return new HttpError('closed', 'the connection closed before the reply was complete', error);
}
