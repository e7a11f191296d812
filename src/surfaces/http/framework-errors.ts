import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifyServerOptions } from 'fastify';
import { createHttpRejection, ParleyError, toErrorBody, toParleyError } from '#contract/errors/errors.ts';
import { compatErrorDialect, type ErrorDialect } from './error-dialect.ts';
import { getRequestId, hasSeveralHosts, isChunkedHttp10 } from './read-request.ts';
import { keepPrivate } from './replies/header-fields.ts';
import { endSocket } from './server-guards.ts';

export interface ErrorDeps {
  readonly reportError: (error: ParleyError, requestId: string) => void;
  /** Returns the dialect of a path. Undefined selects the compat dialect for all paths. */
  readonly errorDialectAt?: (path: string) => ErrorDialect;
}

/** Installs the error handler of a Fastify application. Also adds the request ID and the cache headers to every response. */
export function handleErrors(app: FastifyInstance, { reportError, errorDialectAt = () => compatErrorDialect }: ErrorDeps): void {
  app.addHook('onSend', ({ method, url, id }, reply, _payload, done) => {
    if (method !== 'OPTIONS') keepPrivate(reply);
    for (const name of errorDialectAt(url).idHeaders) reply.header(name, id);
    done();
  });
  app.setErrorHandler((cause, request, reply) => {
    const error = toParleyError(toContractError(cause));
    if (error.status >= 500 && !error.isClientCaused) reportError(error, request.id);
    const { toErrorBody, mediaType } = errorDialectAt(request.url);
    return sendError(reply, error, toErrorBody(error, request.id), mediaType);
  });
}

/** Converts an error of Fastify about the request to a contract error. Returns other errors unchanged. */
function toContractError(error: unknown): unknown {
  const { code, statusCode } = error instanceof Error ? (error as Error & { code?: unknown; statusCode?: unknown }) : {};
  if (typeof code !== 'string' || !code.startsWith('FST_ERR_') || typeof statusCode !== 'number' || statusCode >= 500)
    return error;
  const details = { cause: error };
  if (statusCode === 413) return new ParleyError('payload_too_large', 'The body is too large for this path.', details);
  if (statusCode === 415)
    return new ParleyError('unsupported_media_type', 'This path does not support the media type of the body.', details);
  return new ParleyError('invalid_request', 'Invalid request.', details);
}

function sendError(
  reply: FastifyReply,
  error: ParleyError,
  body: object,
  mediaType = 'application/json; charset=utf-8',
): FastifyReply {
  for (const [name, value] of Object.entries(error.headers ?? {})) reply.header(name, value);
  if (error.retryAfterSeconds !== undefined) reply.header('retry-after', error.retryAfterSeconds);
  return reply.code(error.status).type(mediaType).send(JSON.stringify(body));
}

/**
 * Options of a Fastify application. Requests that never reach a route also get a contract error, and every request gets an ID.
 */
export function createErrorOptions(newId: () => string, errorDialectAt: (path: string) => ErrorDialect) {
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
      const response: ServerResponse | null | undefined = Reflect.get(socket, '_httpMessage');
      if (code !== 'ECONNRESET' && socket.writable && !response?.headersSent) endSocket(socket, formatResponse(code, newId()));
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
  app.addHook('onRequest', ({ raw }, _reply, done) => done(findHeaderError(raw)));
}

function findHeaderError({ rawHeaders, headers, httpVersion, method, url }: IncomingMessage): ParleyError | undefined {
  const { host, expect, 'transfer-encoding': transfer } = headers;
  if (url === '*' && method !== 'OPTIONS') return new ParleyError('invalid_request', 'Only OPTIONS requests may use the path *.');
  if (hasSeveralHosts(rawHeaders))
    return new ParleyError('invalid_request', 'The Host header occurs more than once. Send it once.');
  if (isChunkedHttp10(httpVersion, transfer))
    return new ParleyError('invalid_request', 'HTTP/1.0 does not support Transfer-Encoding. Send a Content-Length.', {
      headers: { connection: 'close' },
    });
  if (httpVersion !== '1.1') return undefined;
  if (host === undefined) return new ParleyError('invalid_request', 'The Host header is missing.');
  if (expect === undefined || /100-continue/i.test(expect)) return undefined;
  return createHttpRejection(417, 'The Expect header must be 100-continue.');
}

function formatResponse(code: string | undefined, id: string): string {
  const error = toRejection(code);
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

function toRejection(code: string | undefined): ParleyError {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return createHttpRejection(408, 'The request did not arrive in time.');
  if (code === 'HPE_HEADER_OVERFLOW') return createHttpRejection(431, 'The request headers are too large.');
  return new ParleyError('invalid_request', 'The request is not valid HTTP.');
}
