import { parentPort } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import apiReference from '@scalar/fastify-api-reference';
import type { FastifyInstance } from 'fastify';

// Runs in a worker, because reading and compressing 4 MB of script would block the streams of the node for half a second.
const reply = { header: () => reply, send: (script: string) => parentPort?.postMessage(gzipSync(script)) };
const route = (added: { url: string; handler(request: object, response: typeof reply): void }): void => {
  if (added.url === '/docs/js/scalar.js') added.handler({}, reply);
};
const host = { route } as unknown as FastifyInstance;
apiReference(host, { routePrefix: '/docs', configuration: { url: 'openapi.json' } }, () => undefined);
