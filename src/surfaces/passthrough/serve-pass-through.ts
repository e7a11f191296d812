import type { IncomingMessage } from 'node:http';
import type { Sink } from '#base/stream/sink.ts';
import { endEvent, toEvent } from '#contract/chat/frame.ts';
import { type PassThroughApi, type PassThroughTraits, parsePassThrough, passThroughTraits } from '#contract/pass-through.ts';
import type { Calls, Target } from '#domain/calls/call.ts';
import type { PassThroughFrame, PassThroughRequest } from '#domain/upstreams/upstream.ts';
import { authorizeCall, type PathDeployment } from '../http/authorize-call.ts';
import { discardBody, readPieces, toBoundary } from '../http/form/form-reader.ts';
import { bodyTooLarge, requirePlain, unsupportedType } from '../http/read-request.ts';
import { EventStream, endResponse, whenDrained } from '../http/replies/event-stream.ts';
import { privateFields } from '../http/replies/header-fields.ts';
import { sendJson } from '../http/replies/send-json.ts';
import type { Exchange, RequestContext } from '../http/request-context.ts';
import type { RequestHandler } from '../http/request-handler.ts';
import { PassThroughForm } from './pass-through-form.ts';

export interface PassThroughDeps {
  readonly handler: RequestHandler;
  readonly calls: Calls;
  /** Maximum number of bytes of a complete form. */
  readonly maxFormBytes: () => number;
}

/** A request to a pass-through API. Without a deployment in the path, `model` in the body names it. */
interface PassThroughExchange extends Exchange, Partial<PathDeployment> {
  readonly api: PassThroughApi;
}

/** Returns the surface of the pass-through APIs. */
export function createPassThrough(deps: PassThroughDeps) {
  return {
    /** Authorizes, parses, and answers a request. */
    async serve(exchange: PassThroughExchange): Promise<void> {
      const { context, api } = exchange;
      const { target, request } = await (isForm(context.request, passThroughTraits[api])
        ? readForm(deps, exchange)
        : readJson(deps, exchange));
      const reply = new PassThroughReply(context);
      await context.awaitReply(deps.calls.passThrough(target, request, reply), reply);
    },
    /** Returns the maximum number of bytes of a form. Undefined if the request is not a form. */
    maxFormBytes: (request: IncomingMessage, api: PassThroughApi) =>
      isForm(request, passThroughTraits[api]) ? deps.maxFormBytes() : undefined,
  };
}

interface ReadResult {
  readonly target: Target;
  readonly request: PassThroughRequest;
}

/** Returns whether the body is a form. If the API accepts JSON and forms, the media type decides. */
function isForm({ headers }: IncomingMessage, { accepts }: PassThroughTraits): boolean {
  return accepts === 'form' || (accepts === 'either' && /^\s*multipart\//i.test(headers['content-type'] ?? ''));
}

async function readJson(deps: PassThroughDeps, exchange: PassThroughExchange): Promise<ReadResult> {
  const { api } = exchange;
  const { target, value } = await authorizeCall(deps, exchange, { ...exchange, use: api });
  return { target, request: { api, body: parsePassThrough(api, value) } };
}

/** Reads a form up to its `model` field for authorization, and then buffers at most 1 MiB. The call reads the rest. */
async function readForm(deps: PassThroughDeps, exchange: PassThroughExchange): Promise<ReadResult> {
  const { context, caller, api } = exchange;
  const { id, record, request, response } = context;
  const boundary = requireForm(request);
  response.once('finish', () => discardBody(request));
  const form = new PassThroughForm(limitBytes(readPieces(request), deps.maxFormBytes()), boundary, api);
  const deployment = exchange.deployment ?? (await form.readModel());
  record.setDeployment(deployment);
  const target = await deps.calls.authorize({ id, deployment, caller, record, origin: request }, api);
  exchange.checkVersion?.();
  await form.readAhead();
  return { target, request: { api, form, defaults: target.deployment.defaults } };
}

function requireForm({ headers }: IncomingMessage): string {
  const { 'content-type': type = '' } = headers;
  const boundary = toBoundary(type);
  if (boundary === undefined) throw unsupportedType('multipart/form-data', type);
  requirePlain(headers);
  return boundary;
}

async function* limitBytes(pieces: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const piece of pieces) {
    bytes += piece.length;
    if (bytes > maxBytes) throw bodyTooLarge(maxBytes);
    yield piece;
  }
}

/** Sends a pass-through response unchanged, at the pace of the client. An error before the first chunk sets the HTTP status. */
class PassThroughReply implements Sink<PassThroughFrame> {
  readonly #context: RequestContext;
  #kind: PassThroughFrame['kind'] | undefined;
  #events: EventStream | undefined;
  /** JSON response, which is sent after it has ended successfully. */
  #json = '';
  #hasEnded = false;

  constructor(context: RequestContext) {
    this.#context = context;
  }

  push(frame: PassThroughFrame): void {
    const { record, clock } = this.#context;
    if (frame.kind === 'json') {
      this.#kind = 'json';
      this.#json = frame.bytes;
      return;
    }
    if (this.#kind === undefined) {
      this.#begin(frame);
      record.recordFirstByte(clock.nowMs());
    } else record.recordChunk(clock.nowMs());
    const keepsUp = this.#events?.send(frame.bytes) ?? this.#context.response.write(frame.bytes, 'latin1');
    if (!keepsUp) this.#context.pauseUntil(() => this.#events?.whenDrained() ?? whenDrained(this.#context.response));
  }

  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    const { response } = this.#context;
    if (this.#kind === 'json') sendJson(response, 200, this.#json, this.#context.replyHeaders);
    else if (this.#events !== undefined) this.#events.end();
    else endResponse(response, '');
  }

  fail(error: unknown): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    if (this.#kind === undefined || this.#kind === 'json') this.#context.sendError(error);
    else this.#endEarly(error);
  }

  #begin({ kind, contentType }: PassThroughFrame): void {
    const { response, replyHeaders } = this.#context;
    this.#kind = kind;
    if (kind === 'events') {
      this.#events = new EventStream(response, { headers: replyHeaders });
    } else response.writeHead(200, { 'content-type': contentType, ...privateFields, ...replyHeaders });
  }

  /**
   * An event stream ends with an error event. For other media types the connection is destroyed, so that the client can detect
   * the truncation.
   */
  #endEarly(cause: unknown): void {
    const context = this.#context;
    const error = context.recordError(cause);
    if (this.#events === undefined) context.response.destroy();
    else if (context.isDisconnected) this.#events.abandon();
    else {
      this.#events.send(toEvent(context.errorDialect.toErrorBody(error, context.id)) + endEvent);
      this.#events.end();
    }
  }
}
