import type { IncomingMessage } from 'node:http';
import type { JsonObject } from '#base/json/json.ts';
import { toLatin1 } from '#base/text/bytes.ts';
import type { Clock } from '#base/time/clock.ts';
import type { Chunk } from '#contract/chat/chunk.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { isOriginAllowed } from '../http/cross-origin.ts';
import { EventStream } from '../http/replies/event-stream.ts';
import { privateFields } from '../http/replies/header-fields.ts';
import { sendJson } from '../http/replies/send-json.ts';
import type { RequestContext } from '../http/request-context.ts';

type RequestId = string | number | undefined;

/** Sends the response to one message, either as JSON or as the last event of a stream of progress notifications. */
export class McpResponder {
  readonly #context: RequestContext;
  readonly #accepted: AcceptedFormats;
  #stream: EventStream | undefined;
  #hasSent = false;
  #hasAnswered = false;
  readonly #addedHeaders: Record<string, string> = {};

  constructor(context: RequestContext, accepted: AcceptedFormats) {
    this.#context = context;
    this.#accepted = accepted;
  }

  get acceptsEvents(): boolean {
    return this.#accepted.acceptsEvents;
  }

  /** Adds a header to a response that has not started. */
  addHeader(name: string, value: string): void {
    this.#addedHeaders[name] = value;
  }

  /** Starts a stream, whose heartbeats keep an idle connection open. */
  open(): void {
    this.#stream = new EventStream(this.#context.response, { headers: this.#headers });
  }

  /** Sends a notification. Resolves when the client can receive more. */
  async notify(method: string, params: JsonObject): Promise<void> {
    const { record, clock } = this.#context;
    const keepsUp = this.#send({ jsonrpc: '2.0', method, params });
    if (this.#hasSent) record.recordChunk(clock.nowMs());
    else record.recordFirstByte(clock.nowMs());
    this.#hasSent = true;
    if (!keepsUp) await this.#stream?.whenDrained();
  }

  answer(id: RequestId, result: JsonObject): void {
    this.#end(200, { jsonrpc: '2.0', id, result });
  }

  reject(id: RequestId, { rpcCode: code, message, data, status }: RpcError): void {
    this.#end(status, { jsonrpc: '2.0', id: id ?? null, error: { code, message, data } });
  }

  /** Ends the response to a canceled call without a result, as the client expects. */
  endWithoutResult(): void {
    if (this.#stream === undefined && !this.#accepted.acceptsEvents) return this.accept();
    if (this.#stream === undefined) this.open();
    this.#hasAnswered = true;
    this.#stream?.end();
  }

  /** Accepts a notification with an empty response. */
  accept(): void {
    const { response, headers } = this.#context;
    response.writeHead(202, { 'content-length': 0, ...privateFields, ...headers }).end();
  }

  /** Destroys a stream that has no final message. */
  close(): void {
    if (!this.#hasAnswered) this.#stream?.abandon();
  }

  /** Sends the final message, as an event if a stream is open. An error with a status other than 200 cannot start a stream. */
  #end(status: number, message: object): void {
    this.#hasAnswered = true;
    if (this.#stream === undefined && status === 200 && !this.#accepted.acceptsJson) this.open();
    if (this.#stream === undefined)
      return sendJson(this.#context.response, status, toLatin1(JSON.stringify(message)), this.#headers);
    this.#send(message);
    this.#stream.end();
  }

  get #headers(): Readonly<Record<string, string>> {
    return { ...this.#context.headers, ...this.#addedHeaders };
  }

  /** Sends an event if a stream is open. Returns false if the client reads too slowly. */
  #send(message: object): boolean {
    return this.#stream?.send(`event: message\ndata: ${toLatin1(JSON.stringify(message))}\n\n`) ?? true;
  }
}

/** Minimum interval between progress notifications about text, which arrives in many small chunks. */
const textPaceMs = 1_000;

/** Sends progress notifications: one for each stage, and the length of the text so far. */
export class Progress {
  readonly #token: string | number;
  readonly #responder: McpResponder;
  readonly #clock: Clock;
  #lastProgress = 0;
  #chars = 0;
  #lastTextAtMs = Number.NEGATIVE_INFINITY;

  constructor(token: string | number, responder: McpResponder, clock: Clock) {
    this.#token = token;
    this.#responder = responder;
    this.#clock = clock;
  }

  /** Sends the progress that a chunk contains. Resolves when the client can receive more. */
  async report({ choices }: Chunk): Promise<void> {
    for (const { delta } of choices) {
      for (const { name } of delta?.custom_content?.stages ?? []) if (name) await this.#notify(name);
      await this.#reportText(delta?.content ?? '');
    }
  }

  async #reportText(piece: string): Promise<void> {
    this.#chars += piece.length;
    const nowMs = this.#clock.nowMs();
    if (piece === '' || nowMs - this.#lastTextAtMs < textPaceMs) return;
    this.#lastTextAtMs = nowMs;
    await this.#notify(`${this.#chars} characters`);
  }

  #notify(message: string): Promise<void> {
    this.#lastProgress += 1;
    return this.#responder.notify('notifications/progress', {
      progressToken: this.#token,
      progress: this.#lastProgress,
      message,
    });
  }
}

/** Error codes of JSON-RPC and of the Model Context Protocol. */
export const rpcCodes = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  headerMismatch: -32020,
  unsupportedVersion: -32022,
} as const;

interface RpcDetails {
  /** HTTP status of the response. Default: 400. */
  readonly status?: number;
  readonly data?: JsonObject;
  readonly cause?: unknown;
}

/** An error that the client receives as a JSON-RPC error. */
export class RpcError extends ParleyError {
  readonly rpcCode: number;
  readonly data: JsonObject | undefined;

  constructor(code: keyof typeof rpcCodes, message: string, { status = 400, data, cause }: RpcDetails = {}) {
    super('invalid_request', message, { status, cause });
    this.name = 'RpcError';
    this.rpcCode = rpcCodes[code];
    this.data = data;
  }
}

/** Returns the result of `parse`. Converts a `ParleyError` to an `RpcError` with this code. */
export function withRpcError<Value>(code: keyof typeof rpcCodes, parse: () => Value, details: RpcDetails = {}): Value {
  try {
    return parse();
  } catch (cause) {
    if (!(cause instanceof ParleyError)) throw cause;
    throw new RpcError(code, cause.message, { ...details, cause });
  }
}

/** Response formats that the client accepts. */
interface AcceptedFormats {
  readonly acceptsJson: boolean;
  readonly acceptsEvents: boolean;
}

/** Returns the accepted formats, or JSON if `Accept` is missing. Throws if the client accepts neither format. */
export function readAccepted({ headers: { accept } }: IncomingMessage): AcceptedFormats {
  if (accept === undefined) return { acceptsJson: true, acceptsEvents: false };
  const types = accept
    .toLowerCase()
    .split(',')
    .filter((entry) => !/;\s*q=0(\.0*)?\s*$/.test(entry))
    .map((entry) => entry.split(';')[0]?.trim());
  const events = types.includes('text/event-stream') || types.includes('text/*');
  const json = ['application/json', 'application/*', '*/*'].some((type) => types.includes(type));
  if (json || events) return { acceptsJson: json, acceptsEvents: events };
  throw new ParleyError('invalid_request', 'Accept must allow application/json or text/event-stream.', { status: 406 });
}

/**
 * Rejects requests from pages of other hosts unless the configuration allows their origin. Otherwise, a page could attack the
 * service through a browser in the same network (MCP, Security Warning of the transport). Only browsers send `Origin`.
 */
export function rejectOtherOrigins({ headers: { origin, host } }: IncomingMessage, allowed: readonly string[]): void {
  if (origin === undefined || isSameHost(origin, host) || isOriginAllowed(origin, allowed)) return;
  throw new ParleyError(
    'access_denied',
    'Requests from pages of this origin are not allowed. An operator can allow it in security.allowedOrigins.',
  );
}

function isSameHost(origin: string, host = ''): boolean {
  if (!URL.canParse(origin)) return false;
  const { protocol, host: originHost } = new URL(origin);
  const ownOrigin = `${protocol}//${host}`;
  return /^https?:$/.test(protocol) && URL.canParse(ownOrigin) && new URL(ownOrigin).host === originHost;
}
