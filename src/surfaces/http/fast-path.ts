import type { RequestListener } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { getRequestId, hasSeveralHosts } from './read-request.ts';
import type { RawConfig, ServeRaw } from './serve-raw.ts';

/** URLs that can take the fast path. The framework handles URLs that need decoding or validation. */
const plainUrl = /^[\w/.:?=&~-]{1,1000}$/;

/**
 * Routes plain calls without the framework, whose routing and hooks take up to a tenth of the time of a call. All other requests
 * reach the same route through the framework. No other request listener may handle these paths.
 */
export class FastPath {
  readonly #newId: () => string;
  readonly #exact = new Map<string, ServeRaw>();
  readonly #byPrefix: { readonly prefix: string; readonly serve: ServeRaw }[] = [];

  constructor(newId: () => string) {
    this.#newId = newId;
  }

  /** Collects the routes that are registered after this call. */
  collectRoutes(app: FastifyInstance): void {
    app.addHook('onRoute', ({ url, config }) => {
      const serve = (config as RawConfig | undefined)?.fastPath;
      if (serve === undefined) return;
      if (url.endsWith('/*')) this.#byPrefix.push({ prefix: url.slice(0, -1), serve });
      else this.#exact.set(url, serve);
    });
  }

  /** Returns a request listener that tries the fast path before the framework. */
  before(framework: RequestListener): RequestListener {
    return (request, response) => {
      const { method, url = '', headers, httpVersion } = request;
      const serve = method === 'POST' && plainUrl.test(url) ? (this.#exact.get(url) ?? this.#find(url)) : undefined;
      const isPlain = httpVersion === '1.1' && headers.host !== undefined && headers.expect === undefined;
      if (serve === undefined || !isPlain || hasSeveralHosts(request.rawHeaders)) framework(request, response);
      else serve({ id: getRequestId(request, this.#newId), request, response });
    };
  }

  #find(url: string): ServeRaw | undefined {
    return this.#byPrefix.find(({ prefix }) => url.startsWith(prefix))?.serve;
  }
}
