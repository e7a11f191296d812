import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest, FastifyServerOptions } from 'fastify';
import { ParleyError, toErrorBody } from '#contract/errors.ts';
import { endSocket } from './end-socket.ts';
import { sendError } from './on-error.ts';
import { requestIdOf } from './request-id.ts';

/** Options of a Fastify application: what never reaches a route is answered with the error family of the contract too. */
export function answersToMalformed(newId: () => string) {
  return {
    /** An address that cannot be decoded, or is too long for any route. */
    frameworkErrors(_error: Error, request: FastifyRequest, reply: FastifyReply): void {
      reply.header('x-request-id', requestIdOf(request.raw, newId));
      sendError(
        reply,
        new ParleyError('route_not_found', 'Nothing is served at this path: it cannot be decoded or is too long.'),
      );
    },

    /** Bytes that are no request. */
    clientErrorHandler({ code }: Error & { code?: string }, socket: Socket): void {
      if (code !== 'ECONNRESET' && socket.writable) endSocket(socket, toAnswer(code));
      else socket.destroy();
    },
  } satisfies FastifyServerOptions;
}

function toAnswer(code: string | undefined): string {
  const [status, reason, message] = toRefusal(code);
  const body = JSON.stringify(toErrorBody(new ParleyError('invalid_request', message)));
  const head = [
    `HTTP/1.1 ${status} ${reason}`,
    'connection: close',
    'content-type: application/json; charset=utf-8',
    `content-length: ${body.length}`,
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}

function toRefusal(code: string | undefined): readonly [status: number, reason: string, message: string] {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return [408, 'Request Timeout', 'The request did not come in time.'];
  if (code === 'HPE_HEADER_OVERFLOW')
    return [431, 'Request Header Fields Too Large', 'The header fields of the request are too large.'];
  return [400, 'Bad Request', 'The request breaks the rules of HTTP.'];
}
