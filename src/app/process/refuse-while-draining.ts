import type { FastifyInstance } from 'fastify';
import { ParleyError } from '#contract/errors/errors.ts';

const openWhileStopping = /^\/(health|ready|metrics)$/;

/**
 * While the node stops, requests on open connections get 503 `shutting_down` and the connection closes. For the routes
 * registered after it; those with `config.isMeasured` refuse calls themselves.
 */
export function refuseWhileDraining(app: FastifyInstance, isDraining: () => boolean): void {
  app.addHook('onRoute', (route) => {
    if ((route.config as { isMeasured?: boolean } | undefined)?.isMeasured) return;
    const before = route.onRequest === undefined ? [] : [route.onRequest].flat();
    const refuses = !openWhileStopping.test(route.url);
    route.onRequest = [
      async (_request, reply) => {
        if (!isDraining()) return;
        reply.header('connection', 'close');
        if (refuses)
          throw new ParleyError('shutting_down', 'This node is stopping; send the request again.', { retryAfterSeconds: 1 });
      },
      ...before,
    ];
  });
}
