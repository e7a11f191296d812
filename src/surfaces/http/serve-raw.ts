import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance, HTTPMethods } from 'fastify';

/** A request as the server has it, under the id that every line of the log knows it by. */
export interface RawRequest {
  readonly id: string;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** Registers a route that works on the raw request and response: nothing of the framework stands in its way. */
export function serveRaw(
  app: FastifyInstance,
  method: HTTPMethods,
  url: string,
  serve: (raw: RawRequest) => Promise<void>,
): void {
  app.route({
    method,
    url,
    config: { isMeasured: true },
    onRequest(request, reply) {
      reply.hijack();
      serve({ id: request.id, request: request.raw, response: reply.raw });
    },
    handler() {},
  });
}
