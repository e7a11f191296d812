import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { hasSeveralHosts, isChunkedTooEarly } from './answer-malformed.ts';
import { requestIdOf } from './request-id.ts';
import type { RawConfig, ServeRaw } from './serve-raw.ts';

/** Only such URLs take the fast path; the framework handles those that it decodes or checks. */
const plainUrl = /^[\w/.:?=&~-]{1,1000}$/;

/**
 * Routes plain call requests around the framework, whose routing and hooks take up to a tenth of the time of a call. Whatever is
 * unusual in any way goes through the framework, to the same route.
 */
export class FastPath {
  readonly #newId: () => string;
  readonly #isReserved: (request: IncomingMessage) => boolean;
  readonly #exact = new Map<string, ServeRaw>();
  readonly #below: { readonly prefix: string; readonly serve: ServeRaw }[] = [];

  /** Requests that are reserved never take it. */
  constructor(newId: () => string, isReserved: (request: IncomingMessage) => boolean) {
    this.#newId = newId;
    this.#isReserved = isReserved;
  }

  /** Collects the routes that are registered after this call. */
  learn(app: FastifyInstance): void {
    app.addHook('onRoute', ({ url, config }) => {
      const serve = (config as RawConfig | undefined)?.fastPath;
      if (serve === undefined) return;
      if (url.endsWith('/*')) this.#below.push({ prefix: url.slice(0, -1), serve });
      else this.#exact.set(url, serve);
    });
  }

  /** What a server listens with: the fast path before the framework. */
  before(framework: RequestListener): RequestListener {
    return (request, response) => {
      if (!this.#takes(request, response)) framework(request, response);
    };
  }

  #takes(request: IncomingMessage, response: ServerResponse): boolean {
    const { method, url = '', headers } = request;
    if (method !== 'POST' || headers.host === undefined || headers.expect !== undefined || !plainUrl.test(url)) return false;
    const serve = this.#exact.get(url) ?? this.#below.find(({ prefix }) => url.startsWith(prefix))?.serve;
    if (serve === undefined || this.#isReserved(request) || hasSeveralHosts(request.rawHeaders)) return false;
    if (isChunkedTooEarly(request.httpVersion, headers['transfer-encoding'])) return false;
    serve({ id: requestIdOf(request, this.#newId), request, response });
    return true;
  }
}
