import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ParleyError, toErrorBody, toParleyError } from '#contract/errors.ts';
import { compatErrorDialect, type ErrorDialect } from './error-dialect.ts';

export interface ErrorDeps {
  readonly noteFault: (error: ParleyError, requestId: string) => void;
  /** Which dialect is spoken at a path. Absent: that of the compat surface everywhere. */
  readonly errorDialectAt?: (path: string) => ErrorDialect;
}

/** Answers of a Fastify application to what no route takes: an error of ours, 404 or 405. Every answer gets its `X-Request-Id`. */
export function answerErrors(app: FastifyInstance, { noteFault, errorDialectAt = () => compatErrorDialect }: ErrorDeps): void {
  const send = ({ url, id }: FastifyRequest, reply: FastifyReply, error: ParleyError): FastifyReply =>
    sendError(reply, error, errorDialectAt(url).toErrorBody(error, id));
  const methodsByRoute = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ url, method }) => {
    const known = methodsByRoute.get(url) ?? new Set();
    for (const name of [method].flat()) known.add(name);
    methodsByRoute.set(url, known);
  });
  const answerNotFound = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const allowed = methodsAt(methodsByRoute, request.url);
    if (allowed.length === 0)
      return send(request, reply, new ParleyError('route_not_found', 'Nothing is served at this path; /docs lists what is.'));
    reply.header('allow', allowed.join(', '));
    const claim = `This path takes ${allowed.join(', ')}, not ${request.method}.`;
    return send(request, reply, new ParleyError('method_not_allowed', claim));
  };
  app.setNotFoundHandler(answerNotFound);
  // Before a body is read: a faulty one would be told instead.
  app.addHook('onRequest', (request, reply, done) => {
    if (request.is404) answerNotFound(request, reply);
    else done();
  });
  app.addHook('onSend', ({ url, id }, reply, _payload, done) => {
    for (const name of errorDialectAt(url).idHeaders) reply.header(name, id);
    done();
  });
  app.setErrorHandler((thrown, request, reply) => {
    const error = toParleyError(toOwnError(thrown));
    if (error.status >= 500) noteFault(error, request.id);
    return send(request, reply, error);
  });
}

/** What Fastify finds wrong with a request, as an error of the contract; anything else as it is. */
function toOwnError(thrown: unknown): unknown {
  const { code, statusCode } = thrown instanceof Error ? (thrown as Error & { code?: unknown; statusCode?: unknown }) : {};
  if (typeof code !== 'string' || !code.startsWith('FST_ERR_') || typeof statusCode !== 'number' || statusCode >= 500)
    return thrown;
  const details = { cause: thrown };
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

function methodsAt(methodsByRoute: ReadonlyMap<string, ReadonlySet<string>>, url: string): string[] {
  const [path = ''] = url.split('?', 1);
  const allowed = new Set<string>();
  for (const [route, methods] of methodsByRoute) {
    const isHere = route.endsWith('*') ? route.length > 1 && path.startsWith(route.slice(0, -1)) : route === path;
    if (isHere) for (const method of methods) allowed.add(method);
  }
  return [...allowed].sort();
}
