import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ParleyError, toErrorBody, toParleyError } from '#contract/errors/errors.ts';
import { compatErrorDialect, type ErrorDialect } from './error-dialect.ts';
import { keepPrivate } from './replies/header-fields.ts';

export interface ErrorDeps {
  readonly reportError: (error: ParleyError, requestId: string) => void;
  /** Returns the dialect of a path. Undefined selects the compat dialect for all paths. */
  readonly errorDialectAt?: (path: string) => ErrorDialect;
}

/** Installs the error handler of a Fastify application. Also adds the request ID and the cache headers to every response. */
export function answerErrors(app: FastifyInstance, { reportError, errorDialectAt = () => compatErrorDialect }: ErrorDeps): void {
  const send = ({ url, id }: FastifyRequest, reply: FastifyReply, error: ParleyError): FastifyReply => {
    const { toErrorBody: toBody, mediaType } = errorDialectAt(url);
    return sendError(reply, error, toBody(error, id), mediaType);
  };
  app.addHook('onSend', ({ method, url, id }, reply, _payload, done) => {
    if (method !== 'OPTIONS') keepPrivate(reply);
    for (const name of errorDialectAt(url).idHeaders) reply.header(name, id);
    done();
  });
  app.setErrorHandler((cause, request, reply) => {
    const error = toParleyError(toContractError(cause));
    if (error.status >= 500) reportError(error, request.id);
    return send(request, reply, error);
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

/** Sends an error to the client. */
export function sendError(
  reply: FastifyReply,
  error: ParleyError,
  body: object = toErrorBody(error),
  mediaType = 'application/json; charset=utf-8',
): FastifyReply {
  for (const [name, value] of Object.entries(error.headers ?? {})) reply.header(name, value);
  if (error.retryAfterSeconds !== undefined) reply.header('retry-after', error.retryAfterSeconds);
  return reply.code(error.status).type(mediaType).send(JSON.stringify(body));
}
