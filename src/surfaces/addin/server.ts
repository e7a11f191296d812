import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import { createServer as createSecureServer, type Server as SecureServer } from 'node:https';
import type { Socket } from 'node:net';
import { headPatience, paceBodies } from '../http/body-pace.ts';
import { requireHttps } from '../http/strict-transport.ts';
import { answerConnect, answerMalformed } from './malformed.ts';

/** Long enough for balancers in front. What Node would answer by itself lacks the CORS set. */
const options: ServerOptions = { ...headPatience, keepAliveTimeout: 75_000, requireHostHeader: false };

/** A server every answer of which comes from `handle` or carries the CORS set all the same; over TLS where given, in PEM. */
export function createAddinServer(
  handle: RequestListener,
  tls?: { readonly cert: Buffer; readonly key: Buffer },
): Server | SecureServer {
  const listener = tls === undefined ? handle : requireHttps(handle);
  const server = tls === undefined ? createServer(options, listener) : createSecureServer({ ...options, ...tls }, listener);
  server.on('checkExpectation', listener);
  server.on('clientError', answerMalformed);
  server.on('connect', (_request: unknown, socket: Socket) => answerConnect(socket));
  paceBodies(server);
  return server;
}
