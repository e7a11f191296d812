import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

interface Place {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly url: string;
}

/** Registers a route that answers before the framework reads a body, so that size and credentials are told first. */
export function serveEarly(
  app: FastifyInstance,
  place: Place,
  answer: (request: FastifyRequest, reply: FastifyReply) => unknown,
): void {
  app.route({
    ...place,
    async onRequest(request, reply) {
      return reply.send(await answer(request, reply));
    },
    handler() {},
  });
}
