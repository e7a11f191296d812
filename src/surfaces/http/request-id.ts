import type { IncomingMessage } from 'node:http';

const wellFormed = /^[\w.:-]{1,128}$/;

/** The caller's `X-Request-Id` if it is well-formed, else a new one. */
export function requestIdOf(request: IncomingMessage, newId: () => string): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && wellFormed.test(given) ? given : newId();
}
