import type { FastifyInstance, FastifyReply } from 'fastify';
import { ParleyError, toErrorBody, toParleyError } from '#contract/errors.ts';

/** Answers of a Fastify application to what no route takes: the error family of the contract, 404 or 405. */
export function answerErrors(app: FastifyInstance, noteFault: (error: ParleyError, requestId: string) => void): void {
  const methodsByRoute = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ url, method }) => {
    const known = methodsByRoute.get(url) ?? new Set();
    for (const name of [method].flat()) known.add(name);
    methodsByRoute.set(url, known);
  });
  app.setNotFoundHandler((request, reply) => {
    const allowed = methodsAt(methodsByRoute, request.url);
    if (allowed.length === 0) return sendError(reply, new ParleyError('route_not_found', 'Nothing is served at this path; /docs lists what is.'));
    reply.header('allow', allowed.join(', '));
    return sendError(reply, new ParleyError('method_not_allowed', `This path takes ${allowed.join(', ')}, not ${request.method}.`));
  });
  app.setErrorHandler((thrown, request, reply) => {
    const error = toParleyError(thrown);
    if (error.status >= 500) noteFault(error, request.id);
    return sendError(reply, error);
  });
}

function sendError(reply: FastifyReply, error: ParleyError): FastifyReply {
  if (error.retryAfterSeconds !== undefined) reply.header('retry-after', error.retryAfterSeconds);
  return reply.code(error.status).type('application/json; charset=utf-8').send(JSON.stringify(toErrorBody(error)));
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
