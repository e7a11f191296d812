import { parentPort } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import apiReference from '@scalar/fastify-api-reference';
import type { FastifyInstance } from 'fastify';

// Runs in a worker, because reading and compressing 4 MB of script would block the event loop of the node for half a second.
// The package offers its script only as a route, so the plugin is registered with a substitute for the server.
const reply = { header: () => reply, send: (script: string) => parentPort?.postMessage(gzipSync(script)) };
const route = (options: { url: string; handler(request: object, response: typeof reply): void }): void => {
  if (options.url === '/docs/js/scalar.js') options.handler({}, reply);
};
const app = { route } as unknown as FastifyInstance;
apiReference(app, { routePrefix: '/docs', configuration: { url: 'openapi.json' } }, () => undefined);
