import type { ServerResponse } from 'node:http';
import { endResponse } from './event-stream.ts';
import { privateFields } from './header-fields.ts';

/** Sends JSON text, given as latin1 bytes. Headers and body are one write at the end of this event loop turn. */
export function sendJson(
  response: ServerResponse,
  status: number,
  bytes: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': bytes.length,
    ...privateFields,
    ...headers,
  });
  setImmediate(endResponse, response, bytes);
}
