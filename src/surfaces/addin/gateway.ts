import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HttpError } from '#base/http/client.ts';
import { resolveClientAddress, toPeer } from '#base/http/client-address.ts';
import { getPath } from '#base/http/url-path.ts';
import { Pieces } from '#base/stream/pieces.ts';
import type { Clock } from '#base/time/clock.ts';
import { toUpstreamFields } from './forwarded-fields.ts';
import { Relay } from './relay.ts';
import { type AddinRules, createErrorReply, findLocalReply, getCorsFields } from './rules.ts';
import type { Upload, Upstream, UpstreamRequest } from './upstream.ts';

/** Log record of one request, without keys, query, or content. */
export interface AddinRecord {
  readonly method: string;
  readonly path: string;
  readonly origin: string | undefined;
  /** 499 if the client disconnected before a response. */
  readonly status: number;
  /** Whether the response was complete (`ok`), the client disconnected (`left`), or the service failed (`failed`). */
  readonly outcome: 'ok' | 'left' | 'failed';
  readonly ms: number;
  /** `X-Request-Id` of the service. */
  readonly requestId: string | undefined;
  readonly error: HttpError | undefined;
}

export interface GatewayDeps {
  readonly upstream: Upstream;
  /** Returns the rules in force. One request keeps the rules that it started with. */
  readonly rules: () => AddinRules;
  readonly bounds: BodyBounds;
  readonly isTrustedProxy: (address: string) => boolean;
  readonly clock: Clock;
  readonly onEnd: (record: AddinRecord) => void;
}

const shuttingDown = createErrorReply(503, 'overloaded_error', 'This gateway is shutting down. Send the request again.', [
  'Retry-After',
  '1',
  'Connection',
  'close',
]);

/** Standalone gateway for browser add-ins (docs/addin.md). Forwards requests to one service. */
export class AddinGateway {
  readonly #deps: GatewayDeps;
  readonly #openResponses = new Set<ServerResponse>();
  #isClosed = false;
  #onEmpty: (() => void) | undefined;

  constructor(deps: GatewayDeps) {
    this.#deps = deps;
  }

  /** Number of responses in progress that come from the service. */
  get size(): number {
    return this.#openResponses.size;
  }

  /** Request listener of the HTTP server. */
  readonly handle = (request: IncomingMessage, response: ServerResponse): void => {
    const { clock } = this.#deps;
    const rules = this.#deps.rules();
    const { headers, method = '', url = '' } = request;
    const relay = new Relay(response, getCorsFields(headers, rules));
    const startedAtMs = clock.nowMs();
    response.once('close', () => this.#onClose(request, response, relay, startedAtMs));
    const localReply = findLocalReply(method, url, headers.origin, rules) ?? (this.#isClosed ? shuttingDown : undefined);
    if (localReply === undefined) this.#forward(request, response, relay);
    else relay.answer(localReply);
  };

  /** Stops forwarding new requests. Resolves when the last response has ended. */
  close(): Promise<void> {
    this.#isClosed = true;
    if (this.#openResponses.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onEmpty = resolve;
    });
  }

  /** Disconnects all clients with a response in progress. */
  abort(): void {
    for (const response of this.#openResponses) response.destroy();
  }

  #forward(request: IncomingMessage, response: ServerResponse, relay: Relay): void {
    const { bounds, isTrustedProxy, upstream } = this.#deps;
    const { headers, method, rawHeaders, socket, url: target = '' } = request;
    const fields = toUpstreamFields(rawHeaders, headers, resolveClientAddress(toPeer(socket), headers, isTrustedProxy));
    this.#openResponses.add(response);
    const upstreamRequest = { method: method === 'GET' ? method : 'POST', target, fields } as const;
    new RequestForwarder({ request, response, upstream, relay, bounds }, upstreamRequest).start();
  }

  #onClose(request: IncomingMessage, response: ServerResponse, relay: Relay, startedAtMs: number): void {
    relay.stop();
    // An unread body blocks the next request on the connection.
    request.resume();
    if (this.#openResponses.delete(response) && this.#openResponses.size === 0) this.#onEmpty?.();
    const outcome = relay.error !== undefined ? 'failed' : response.writableFinished ? 'ok' : 'left';
    this.#deps.onEnd({
      method: request.method ?? '',
      path: getPath(request.url ?? ''),
      origin: request.headers.origin,
      status: response.headersSent ? response.statusCode : 499,
      outcome,
      ms: this.#deps.clock.nowMs() - startedAtMs,
      requestId: relay.requestId,
      error: relay.error,
    });
  }
}

/** Size limits for request bodies. */
export interface BodyBounds {
  /** Maximum size of a body. A larger body is rejected with 413. */
  readonly maxBytes: number;
  /** Maximum size of a body that is buffered and sent in one piece. A larger body is streamed at the pace of the service. */
  readonly maxBufferedBytes: number;
}

interface RequestForwarderDeps {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly upstream: Upstream;
  readonly relay: Relay;
  readonly bounds: BodyBounds;
}

const lingerMs = 1_000;
const tooLarge = createErrorReply(413, 'request_too_large', 'The body is too large for this gateway.', ['Connection', 'close']);

/** Forwards one request to the service. */
class RequestForwarder {
  readonly #deps: RequestForwarderDeps;
  readonly #upstreamRequest: UpstreamRequest;
  /** The part of the body that has arrived, until the upload starts. */
  readonly #buffered = new Pieces();
  #receivedBytes = 0;
  #upload: Upload | undefined;

  constructor(deps: RequestForwarderDeps, upstreamRequest: UpstreamRequest) {
    this.#deps = deps;
    this.#upstreamRequest = upstreamRequest;
  }

  start(): void {
    const { request, bounds } = this.#deps;
    const { 'content-length': length, 'transfer-encoding': coding } = request.headers;
    const announcedBytes = Number(length ?? 0);
    if (announcedBytes > bounds.maxBytes) this.#reject();
    else if (announcedBytes === 0 && coding === undefined) this.#send(null);
    else {
      if (announcedBytes > bounds.maxBufferedBytes) this.#openUpload(length);
      request.on('data', this.#onPiece).on('end', this.#onEnd);
    }
  }

  readonly #onPiece = (piece: Buffer): void => {
    const { bounds, request } = this.#deps;
    this.#receivedBytes += piece.length;
    if (this.#receivedBytes > bounds.maxBytes) this.#reject();
    else if (this.#upload === undefined) {
      this.#buffered.add(piece);
      if (this.#receivedBytes > bounds.maxBufferedBytes) this.#openUpload(undefined);
    } else if (!this.#upload.write(piece)) request.pause();
  };

  readonly #onEnd = (): void => {
    if (this.#upload !== undefined) this.#upload.finish();
    else this.#send(this.#buffered.takeBytes());
  };

  #send(body: Buffer | null): void {
    const { relay, response, upstream } = this.#deps;
    // The end of a buffered body may be read after the client disconnected.
    if (!response.destroyed) relay.follow(upstream.send(this.#upstreamRequest, body, relay));
  }

  #openUpload(length: string | undefined): void {
    const { relay, request, upstream } = this.#deps;
    const upload = upstream.upload(this.#upstreamRequest, length, relay);
    upload.onDrain(() => request.resume());
    relay.follow(upload);
    for (const piece of this.#buffered.take()) upload.write(piece);
    this.#upload = upload;
  }

  /**
   * Rejects a body that is too large. The client reads the response only if the connection stays open, so the body is drained
   * for up to 1 s.
   */
  #reject(): void {
    const { relay, request, response } = this.#deps;
    request.off('data', this.#onPiece).off('end', this.#onEnd);
    relay.stop();
    if (response.headersSent) {
      response.destroy();
      return;
    }
    relay.answer(tooLarge);
    request.resume();
    const timer = setTimeout(() => request.destroy(), lingerMs);
    request.once('close', () => clearTimeout(timer));
  }
}
