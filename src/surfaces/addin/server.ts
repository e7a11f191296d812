import { createServer, type RequestListener, type Server, type ServerOptions, STATUS_CODES } from 'node:http';
import { createServer as createSecureServer, type Server as SecureServer } from 'node:https';
import type { Socket } from 'node:net';
import { endSocket, enforceBodyPace, headTimeouts, limitPipelining, withStrictTransport } from '../http/server-guards.ts';
import { corsConstants, createErrorReply, type LocalReply } from './rules.ts';

/**
 * The keep-alive timeout exceeds the usual idle timeout of load balancers. Node's own response to a missing `Host` would lack
 * the CORS headers, so that check is disabled.
 */
const options: ServerOptions = { ...headTimeouts, keepAliveTimeout: 75_000, requireHostHeader: false };

/**
 * Creates a server whose responses all have the CORS headers. Uses TLS if `tls` is set. Certificate and key are in PEM format.
 */
export function createAddinServer(
  handle: RequestListener,
  tls?: { readonly cert: Buffer; readonly key: Buffer },
): Server | SecureServer {
  const plain = limitPipelining(handle);
  const listener = tls === undefined ? plain : withStrictTransport(plain);
  const server = tls === undefined ? createServer(options, listener) : createSecureServer({ ...options, ...tls }, listener);
  server.on('checkExpectation', listener);
  server.on('clientError', answerMalformed);
  server.on('connect', (_request: unknown, socket: Socket) => answerConnect(socket));
  enforceBodyPace(server);
  return server;
}

/**
 * Listener for `clientError`, which answers bytes that are not valid HTTP. The origin is unknown, so the response has only the
 * constant CORS headers.
 */
function answerMalformed({ code }: Error & { code?: string }, socket: Socket): void {
  if (code !== 'ECONNRESET' && socket.writable) endSocket(socket, toText(toErrorReply(code)));
  else socket.destroy();
}

/** Rejects CONNECT requests. For these, Node passes the raw socket. */
function answerConnect(socket: Socket): void {
  socket.on('error', () => undefined);
  endSocket(socket, toText(createErrorReply(404, 'not_found_error', 'This server is not a proxy.')));
}

function toErrorReply(code: string | undefined): LocalReply {
  const type = 'invalid_request_error';
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return createErrorReply(408, type, 'The request did not arrive in time.');
  if (code === 'HPE_HEADER_OVERFLOW') return createErrorReply(431, type, 'The request headers are too large.');
  return createErrorReply(400, type, 'The request is not valid HTTP.');
}

function toText({ status, body = '', fields = [] }: LocalReply): string {
  const head = [...corsConstants, 'Vary', 'Origin', ...fields, 'Connection', 'close', 'Content-Type', 'application/json'];
  head.push('Content-Length', String(body.length));
  let text = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`;
  for (let index = 0; index + 1 < head.length; index += 2) text += `${head[index]}: ${head[index + 1]}\r\n`;
  return `${text}\r\n${body}`;
}
