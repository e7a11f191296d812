import type { IncomingMessage } from 'node:http';
import type { JsonObject } from '#base/json/json.ts';
import { toLatin1 } from '#base/text/bytes.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { isOriginAllowed } from '../http/cross-origin.ts';
import { EventStream } from '../http/replies/event-stream.ts';
import { privateFields } from '../http/replies/header-fields.ts';
import { sendJson } from '../http/replies/send-json.ts';
import type { RequestContext } from '../http/request-context.ts';
import type { RpcError } from './rpc-error.ts';

type RequestId = string | number | undefined;

/** Sends the response to one message, either as JSON or as the last event of a stream. */
export class McpResponder {
  readonly #context: RequestContext;
  readonly #accepted: AcceptedFormats;
  #stream: EventStream | undefined;
  #hasSent = false;
  #hasAnswered = false;
  #extra: Readonly<Record<string, string>> = {};

  constructor(context: RequestContext, accepted: AcceptedFormats) {
    this.#context = context;
    this.#accepted = accepted;
  }

  get acceptsEvents(): boolean {
    return this.#accepted.events;
  }

  /** Adds a header to a response that has not started. */
  addHeader(name: string, value: string): void {
    this.#extra = { ...this.#extra, [name]: value };
  }

  /** Starts a stream, whose heartbeats keep an idle connection open. */
  open(): void {
    const headers = { ...this.#context.headers, ...this.#extra };
    this.#stream = new EventStream(this.#context.response, { headers });
  }

  /** Sends a notification. Resolves when the client can receive more. */
  async notify(method: string, params: JsonObject): Promise<void> {
    const { record, clock } = this.#context;
    const keepsUp = this.#send({ jsonrpc: '2.0', method, params });
    if (this.#hasSent) record.recordChunk(clock.nowMs());
    else record.recordFirstByte(clock.nowMs());
    this.#hasSent = true;
    if (!keepsUp) await this.#stream?.drained();
  }

  answer(id: RequestId, result: JsonObject): void {
    this.#end(200, { jsonrpc: '2.0', id, result });
  }

  reject(id: RequestId, { rpcCode: code, message, data, status }: RpcError): void {
    this.#end(status, { jsonrpc: '2.0', id: id ?? null, error: { code, message, data } });
  }

  /** Ends the response to a canceled call without a result, as the client expects. */
  endWithoutResult(): void {
    if (this.#stream === undefined && !this.#accepted.events) return this.accept();
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

  /** Errors with another HTTP status than 200 cannot start a stream. */
  #end(status: number, message: object): void {
    this.#hasAnswered = true;
    if (this.#stream === undefined && status === 200 && !this.#accepted.json) this.open();
    if (this.#stream === undefined) this.#sendJson(status, message);
    else this.#send(message);
    this.#stream?.end();
  }

  #sendJson(status: number, message: object): void {
    const headers = { ...this.#context.headers, ...this.#extra };
    sendJson(this.#context.response, status, toLatin1(JSON.stringify(message)), headers);
  }

  /** Returns whether the client keeps up. */
  #send(message: object): boolean {
    return this.#stream?.send(`event: message\ndata: ${toLatin1(JSON.stringify(message))}\n\n`) ?? true;
  }
}

/** Response formats that the client accepts. */
interface AcceptedFormats {
  readonly json: boolean;
  readonly events: boolean;
}

/** Returns the accepted formats, or JSON if `Accept` is missing. Throws if the client accepts neither format. */
export function readAccepted({ headers: { accept } }: IncomingMessage): AcceptedFormats {
  if (accept === undefined) return { json: true, events: false };
  const types = accept
    .toLowerCase()
    .split(',')
    .filter((entry) => !/;\s*q=0(\.0*)?\s*$/.test(entry))
    .map((entry) => entry.split(';')[0]?.trim());
  const events = types.includes('text/event-stream') || types.includes('text/*');
  const json = ['application/json', 'application/*', '*/*'].some((type) => types.includes(type));
  if (json || events) return { json, events };
  throw new ParleyError('invalid_request', 'Accept must allow application/json or text/event-stream.', {
    status: 406,
  });
}

/**
 * Rejects requests from pages of other hosts unless the configuration allows their origin. Otherwise a browser inside the
 * caller's network could be used to attack the service (MCP, Security Warning of the transport). Programs send no `Origin`.
 */
export function rejectOtherOrigins({ headers: { origin, host } }: IncomingMessage, allowed: readonly string[]): void {
  if (origin === undefined || isOwn(origin, host) || isOriginAllowed(origin, allowed)) return;
  throw new ParleyError(
    'access_denied',
    'Requests from pages of this origin are not allowed. An operator can allow it in security.allowedOrigins.',
  );
}

function isOwn(origin: string, host = ''): boolean {
  if (!URL.canParse(origin)) return false;
  const { protocol, host: originHost } = new URL(origin);
  const ownOrigin = `${protocol}//${host}`;
  return /^https?:$/.test(protocol) && URL.canParse(ownOrigin) && new URL(ownOrigin).host === originHost;
}
