import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance, HTTPMethods } from 'fastify';

/** Registers a route that works on the raw request and response: nothing of the framework stands in its way. */
export function serveRaw(
  app: FastifyInstance,
  method: HTTPMethods,
  url: string,
  serve: (raw: { request: IncomingMessage; response: ServerResponse }) => Promise<void>,
): void {
  app.route({
    method,
    url,
    config: { isMeasured: true },
    onRequest(request, reply) {
      reply.hijack();
      serve({ request: request.raw, response: reply.raw });
    },
    handler() {},
  });
}
