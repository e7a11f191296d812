import { parentPort } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import apiReference from '@scalar/fastify-api-reference';
import fastify from 'fastify';

// Runs in a worker, because reading and compressing 4 MB of script would block the streams of the node for half a second.
const app = fastify();
await app.register(apiReference, { routePrefix: '/docs', configuration: { url: 'openapi.json' } });
const { rawPayload } = await app.inject('/docs/js/scalar.js');
parentPort?.postMessage(gzipSync(rawPayload));
await app.close();
