import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';

/** A raw request, with the ID that its log lines contain. */
export interface RawRequest {
  readonly id: string;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

export type ServeRaw = (raw: RawRequest) => Promise<void>;

/** Fields of a Fastify route's `config`. */
export interface RawConfig {
  /** Whether the route works on the raw request. Its handler records and rejects calls itself, so hooks skip the route. */
  readonly isRaw?: boolean;
  /** Handler for all POST requests at or below the URL of the route, if the route has a fast path. */
  readonly fastPath?: ServeRaw;
}

/** Registers a route that works on the raw request and response. The framework does not parse the body or send the response. */
export function serveRaw(app: FastifyInstance, method: HTTPMethods, url: string, serve: ServeRaw, config: RawConfig = {}): void {
  app.route({
    method,
    url,
    config: { isRaw: true, ...config },
    onRequest(request, reply) {
      reply.hijack();
      serve({ id: request.id, request: request.raw, response: reply.raw });
    },
    handler() {},
  });
}

/**
 * Registers a raw route for calls. The fast path serves plain requests to it, and the framework all other requests. No other route
 * may handle POST at or below this URL.
 */
export function serveCalls(app: FastifyInstance, url: string, serve: ServeRaw): void {
  serveRaw(app, 'POST', url, serve, { fastPath: serve });
}

interface EarlyRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly url: string;
}

/** Registers a route that answers before the framework reads a body, so that size and credential errors come first. */
export function serveEarly(
  app: FastifyInstance,
  route: EarlyRoute,
  answer: (request: FastifyRequest, reply: FastifyReply) => unknown,
): void {
  app.route({
    ...route,
    async onRequest(request, reply) {
      return reply.send(await answer(request, reply));
    },
    handler() {},
  });
}
