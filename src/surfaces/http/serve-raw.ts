import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';

/** A request as the server has it, with the id that its log lines carry. */
export interface RawRequest {
  readonly id: string;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

export type ServeRaw = (raw: RawRequest) => Promise<void>;

/** The `config` of a route, as others read it. */
export interface RawConfig {
  /** Set for routes that work on the raw request: they measure and refuse calls themselves. */
  readonly isMeasured?: boolean;
  /** Set if whatever is sent by POST to its address, or below it, is for this route. */
  readonly fastPath?: ServeRaw;
}

/** Registers a route that works on the raw request and response: the framework neither parses the body nor sends the answer. */
export function serveRaw(app: FastifyInstance, method: HTTPMethods, url: string, serve: ServeRaw, config: RawConfig = {}): void {
  app.route({
    method,
    url,
    config: { isMeasured: true, ...config },
    onRequest(request, reply) {
      reply.hijack();
      serve({ id: request.id, request: request.raw, response: reply.raw });
    },
    handler() {},
  });
}

/** The same for calls: plain ones come by the fast path. No other route takes POST at this address, or below it. */
export function serveCalls(app: FastifyInstance, url: string, serve: ServeRaw): void {
  serveRaw(app, 'POST', url, serve, { fastPath: serve });
}

interface Place {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly url: string;
}

/** Registers a route that answers before the framework reads a body, so that size and credentials are told first. */
export function serveEarly(
  app: FastifyInstance,
  location: Place,
  answer: (request: FastifyRequest, reply: FastifyReply) => unknown,
): void {
  app.route({
    ...location,
    async onRequest(request, reply) {
      return reply.send(await answer(request, reply));
    },
    handler() {},
  });
}
