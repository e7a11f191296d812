import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ParleyError, toErrorBody, toParleyError } from '#contract/errors/errors.ts';
import { compatErrorDialect, type ErrorDialect } from './error-dialect.ts';
import { keepPrivate } from './replies/header-fields.ts';

export interface ErrorDeps {
  readonly reportError: (error: ParleyError, requestId: string) => void;
  /** Which dialect is spoken at a path. Absent: that of the compat surface everywhere. */
  readonly errorDialectAt?: (path: string) => ErrorDialect;
}

/** Answers of a Fastify application to what is thrown. Every answer gets its `X-Request-Id`, and what says who may keep it. */
export function answerErrors(app: FastifyInstance, { reportError, errorDialectAt = () => compatErrorDialect }: ErrorDeps): void {
  const send = ({ url, id }: FastifyRequest, reply: FastifyReply, error: ParleyError): FastifyReply =>
    sendError(reply, error, errorDialectAt(url).toErrorBody(error, id));
  app.addHook('onSend', ({ method, url, id }, reply, _payload, done) => {
    if (method !== 'OPTIONS') keepPrivate(reply);
    for (const name of errorDialectAt(url).idHeaders) reply.header(name, id);
    done();
  });
  app.setErrorHandler((cause, request, reply) => {
    const error = toParleyError(toOwnError(cause));
    if (error.status >= 500) reportError(error, request.id);
    return send(request, reply, error);
  });
}

/** What Fastify finds wrong with a request, as an error of the contract; anything else as it is. */
function toOwnError(error: unknown): unknown {
  const { code, statusCode } = error instanceof Error ? (error as Error & { code?: unknown; statusCode?: unknown }) : {};
  if (typeof code !== 'string' || !code.startsWith('FST_ERR_') || typeof statusCode !== 'number' || statusCode >= 500)
    return error;
  const details = { cause: error };
  if (statusCode === 413) return new ParleyError('payload_too_large', 'The body is larger than this path takes.', details);
  if (statusCode === 415)
    return new ParleyError('unsupported_media_type', 'The body has a media type that this path does not take.', details);
  return new ParleyError('invalid_request', 'The request cannot be read.', details);
}

/** Answers with an error that may be shown. */
export function sendError(reply: FastifyReply, error: ParleyError, body: object = toErrorBody(error)): FastifyReply {
  for (const [name, value] of Object.entries(error.headers ?? {})) reply.header(name, value);
  if (error.retryAfterSeconds !== undefined) reply.header('retry-after', error.retryAfterSeconds);
  return reply.code(error.status).type('application/json; charset=utf-8').send(JSON.stringify(body));
}
