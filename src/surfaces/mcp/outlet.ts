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

/** Where the answer to one message goes: one JSON text, or a stream whose last event it is. */
export class Outlet {
  readonly #context: RequestContext;
  readonly #accepted: Accepted;
  #stream: EventStream | undefined;
  #hasSent = false;
  #hasAnswered = false;
  #extra: Readonly<Record<string, string>> = {};

  constructor(context: RequestContext, accepted: Accepted) {
    this.#context = context;
    this.#accepted = accepted;
  }

  get takesEvents(): boolean {
    return this.#accepted.events;
  }

  /** Adds a header field to an answer that has not begun. */
  addHeader(name: string, value: string): void {
    this.#extra = { ...this.#extra, [name]: value };
  }

  /** Begins a stream; from now on the connection is kept open while nothing is said. */
  open(): void {
    const headers = { ...this.#context.headers, ...this.#extra };
    this.#stream = new EventStream(this.#context.response, { headers });
  }

  /** Sends a notification; resolves when the reader can take more. */
  async notify(method: string, params: JsonObject): Promise<void> {
    const { record, clock } = this.#context;
    const keepsUp = this.#send({ jsonrpc: '2.0', method, params });
    if (this.#hasSent) record.chunk(clock.nowMs());
    else record.firstByte(clock.nowMs());
    this.#hasSent = true;
    if (!keepsUp) await this.#stream?.drained();
  }

  answer(id: RequestId, result: JsonObject): void {
    this.#end(200, { jsonrpc: '2.0', id, result });
  }

  refuse(id: RequestId, { rpcCode: code, message, data, status }: RpcError): void {
    this.#end(status, { jsonrpc: '2.0', id: id ?? null, error: { code, message, data } });
  }

  /** Ends without a message: of a call that was cancelled the client waits for none. */
  endUnanswered(): void {
    if (this.#stream === undefined && !this.#accepted.events) return this.accept();
    if (this.#stream === undefined) this.open();
    this.#hasAnswered = true;
    this.#stream?.end();
  }

  /** Nothing is said to what was taken. */
  accept(): void {
    const { response, headers } = this.#context;
    response.writeHead(202, { 'content-length': 0, ...privateFields, ...headers }).end();
  }

  /** Lets go of a stream that has no answer. */
  close(): void {
    if (!this.#hasAnswered) this.#stream?.abandon();
  }

  /** Only what is no fault of HTTP can be said in a stream. */
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

  /** Gives whether the reader keeps up. */
  #send(message: object): boolean {
    return this.#stream?.send(`event: message\ndata: ${toLatin1(JSON.stringify(message))}\n\n`) ?? true;
  }
}

/** The forms of an answer that a client takes. */
interface Accepted {
  readonly json: boolean;
  readonly events: boolean;
}

/** What the client takes; JSON if it does not say. Throws if it takes neither form. */
export function readAccepted({ headers: { accept } }: IncomingMessage): Accepted {
  if (accept === undefined) return { json: true, events: false };
  const types = accept
    .toLowerCase()
    .split(',')
    .filter((entry) => !/;\s*q=0(\.0*)?\s*$/.test(entry))
    .map((entry) => entry.split(';')[0]?.trim());
  const events = types.includes('text/event-stream') || types.includes('text/*');
  const json = ['application/json', 'application/*', '*/*'].some((type) => types.includes(type));
  if (json || events) return { json, events };
  throw new ParleyError('invalid_request', 'Answers are application/json or text/event-stream; Accept must name both.', {
    status: 406,
  });
}

/**
 * Refuses what a page of another host sends: a browser on the caller's own network must not lend it its place (MCP,
 * Security Warning of the transport), unless the configuration allows it. Programs send no Origin.
 */
export function refuseOtherOrigins({ headers: { origin, host } }: IncomingMessage, allowed: readonly string[]): void {
  if (origin === undefined || isOwn(origin, host) || isOriginAllowed(origin, allowed)) return;
  throw new ParleyError('access_denied', 'Pages of other hosts are not answered here.');
}

function isOwn(origin: string, host = ''): boolean {
  if (!URL.canParse(origin)) return false;
  const { protocol, host: originHost } = new URL(origin);
  const ownOrigin = `${protocol}//${host}`;
  return /^https?:$/.test(protocol) && URL.canParse(ownOrigin) && new URL(ownOrigin).host === originHost;
}
