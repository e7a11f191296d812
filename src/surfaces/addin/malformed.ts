import type { Socket } from 'node:net';
import { endSocket } from '../http/end-socket.ts';
import { corsConstants } from './cors.ts';
import { type OwnAnswer, refusal } from './own-answer.ts';

const reasons: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  404: 'Not Found',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
};

/** Answers bytes that are no request, for `clientError` of an HTTP server. Its Origin is not known: the rest of the CORS set is there. */
export function answerMalformed({ code }: Error & { code?: string }, socket: Socket): void {
  if (code !== 'ECONNRESET' && socket.writable) endSocket(socket, toText(toRefusal(code)));
  else socket.destroy();
}

/** Answers CONNECT, which Node hands over with the bare socket. */
export function answerConnect(socket: Socket): void {
  socket.on('error', () => undefined);
  endSocket(socket, toText(refusal(404, 'not_found_error', 'This is no proxy.')));
}

function toRefusal(code: string | undefined): OwnAnswer {
  const type = 'invalid_request_error';
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return refusal(408, type, 'The request did not come in time.');
  if (code === 'HPE_HEADER_OVERFLOW') return refusal(431, type, 'The header fields of the request are too large.');
  return refusal(400, type, 'The request breaks the rules of HTTP.');
}

function toText({ status, body = '', fields = [] }: OwnAnswer): string {
  const all = [...corsConstants, 'Vary', 'Origin', ...fields, 'Connection', 'close', 'Content-Type', 'application/json'];
  all.push('Content-Length', String(body.length));
  let head = `HTTP/1.1 ${status} ${reasons[status]}\r\n`;
  for (let at = 0; at + 1 < all.length; at += 2) head += `${all[at]}: ${all[at + 1]}\r\n`;
  return `${head}\r\n${body}`;
}
