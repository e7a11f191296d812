import type { FastifyInstance } from 'fastify';
import type { NodeTelemetry } from '#telemetry/node-telemetry.ts';

/**
 * Counts requests of the routes registered after it. Routes with `config.isMeasured` are left out: their calls are
 * counted by their own records, and the framework's hook would cost them more than all of telemetry.
 */
export function measureHttp(app: FastifyInstance, telemetry: Pick<NodeTelemetry, 'httpRequest'>): void {
  app.addHook('onRoute', (route) => {
    if ((route.config as { isMeasured?: boolean } | undefined)?.isMeasured) return;
    const before = route.onResponse === undefined ? [] : [route.onResponse].flat();
    route.onResponse = [
      ...before,
      async (request, reply) => {
        telemetry.httpRequest({ method: request.method, route: route.url, status: reply.statusCode, ms: reply.elapsedTime });
      },
    ];
  });
}
