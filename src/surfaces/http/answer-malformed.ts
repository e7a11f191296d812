import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifyServerOptions } from 'fastify';
import { createHttpRejection, ParleyError, toErrorBody } from '#contract/errors/errors.ts';
import type { ErrorDialect } from './error-dialect.ts';
import { sendError } from './framework-errors.ts';
import { getRequestId, hasSeveralHosts, isChunkedTooEarly } from './read-request.ts';

/**
 * Options of a Fastify application. Requests that never reach a route also get a contract error, and every request gets an ID.
 */
export function answersToMalformed(newId: () => string, errorDialectAt: (path: string) => ErrorDialect) {
  return {
    genReqId: (request) => getRequestId(request, newId),

    /** Called for a URL that cannot be decoded or is too long for any route. */
    frameworkErrors(_error: Error, request: FastifyRequest, reply: FastifyReply): void {
      const { idHeaders, toErrorBody, mediaType } = errorDialectAt(request.url);
      for (const name of idHeaders) reply.header(name, request.id);
      const error = new ParleyError('route_not_found', 'This path does not exist: it cannot be decoded or is too long.');
      sendError(reply, error, toErrorBody(error, request.id), mediaType);
    },

    /**
     * Called for bytes that are not an HTTP request. If the response has started, only closes the connection, because an error
     * message would become part of the response.
     */
    clientErrorHandler({ code }: Error & { code?: string }, socket: Socket): void {
      const answer: ServerResponse | null | undefined = Reflect.get(socket, '_httpMessage');
      if (code !== 'ECONNRESET' && socket.writable && !answer?.headersSent) endSocket(socket, formatResponse(code, newId()));
      else socket.destroy();
    },
  } satisfies FastifyServerOptions;
}

/**
 * Rejects requests that Node would reject with an empty response, so that clients get an error of the contract: an `Expect`
 * header other than `100-continue`, a request without `Host` (the server must be created with `requireHostHeader: false`), and
 * `*` as a path with methods other than OPTIONS (RFC 9110, 9.3.7). Must be called before other hooks that answer.
 */
export function rejectInvalidHeaders(app: FastifyInstance): void {
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  app.addHook('onRequest', ({ raw }, _reply, done) => done(findHeadError(raw)));
}

function findHeadError({ rawHeaders, headers, httpVersion, method, url }: IncomingMessage): ParleyError | undefined {
  const { host, expect, 'transfer-encoding': transfer } = headers;
  if (url === '*' && method !== 'OPTIONS') return new ParleyError('invalid_request', 'Only OPTIONS requests may use the path *.');
  if (hasSeveralHosts(rawHeaders))
    return new ParleyError('invalid_request', 'The Host header occurs more than once. Send it once.');
  if (isChunkedTooEarly(httpVersion, transfer))
    return new ParleyError('invalid_request', 'HTTP/1.0 does not support Transfer-Encoding. Send a Content-Length.', {
      headers: { connection: 'close' },
    });
  if (httpVersion !== '1.1') return undefined;
  if (host === undefined) return new ParleyError('invalid_request', 'The Host header is missing.');
  if (expect === undefined || /100-continue/i.test(expect)) return undefined;
  return createHttpRejection(417, 'The Expect header must be 100-continue.');
}

function formatResponse(code: string | undefined, id: string): string {
  const error = toError(code);
  const body = JSON.stringify(toErrorBody(error));
  const head = [
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}`,
    'connection: close',
    'content-type: application/json; charset=utf-8',
    `content-length: ${body.length}`,
    `x-request-id: ${id}`,
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}

function toError(code: string | undefined): ParleyError {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return createHttpRejection(408, 'The request did not arrive in time.');
  if (code === 'HPE_HEADER_OVERFLOW') return createHttpRejection(431, 'The request headers are too large.');
  return new ParleyError('invalid_request', 'The request is not valid HTTP.');
}

const lingerMs = 1_000;

/** Sends a final response and closes the connection after at most 1 s. */
export function endSocket(socket: Socket, responseText: string): void {
  socket.end(responseText);
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(timer));
}
