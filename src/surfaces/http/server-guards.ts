import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { ParleyError, toErrorBody } from '#contract/errors/errors.ts';

/** Server options that limit the time for the headers of a request to 15 s. `enforceBodyPace` limits the time for the body. */
export const headTimeouts = { headersTimeout: 15_000, requestTimeout: 0, connectionsCheckingInterval: 5_000 };

/** Minimum number of body bytes per time window, about half a kilobyte per second. */
const defaultRate = { windowMs: 30_000, minBytes: 16 * 1024 };

interface IncomingBody {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Bytes read from the connection at the previous check. Undefined before the first check. */
  bytesRead: number | undefined;
}

/**
 * Answers requests with 408 if their body arrives more slowly than the minimum rate. There is no limit on the total time, so a
 * large body on a slow link may take hours. Bytes that are already buffered do not count against the client's upload rate.
 */
export function enforceBodyPace(server: Server, { windowMs, minBytes } = defaultRate): void {
  // An entry remains until its socket closes, because deletions from a Map allocate memory. Undefined between requests.
  const incomingBodies = new Map<Socket, IncomingBody | undefined>();
  // A listener inside the one below would retain the first request of the socket.
  const deleteOnClose = (socket: Socket) => socket.once('close', () => incomingBodies.delete(socket));
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket, headers } = request;
    if (headers['transfer-encoding'] === undefined && !(Number(headers['content-length']) > 0)) return;
    if (!incomingBodies.has(socket)) deleteOnClose(socket);
    const body: IncomingBody = { request, response, bytesRead: undefined };
    incomingBodies.set(socket, body);
    request.once('close', () => {
      // A pipelined request may have arrived in the meantime.
      if (incomingBodies.get(socket) === body) incomingBodies.set(socket, undefined);
    });
  });
  const check = (): void => {
    for (const [socket, body] of incomingBodies) {
      if (body === undefined || body.request.complete) continue;
      const { request, bytesRead = Number.NEGATIVE_INFINITY } = body;
      if (socket.bytesRead - bytesRead >= minBytes || request.readableLength > 0) body.bytesRead = socket.bytesRead;
      else rejectSlowBody(server, socket, body);
    }
  };
  const timer = setInterval(check, windowMs).unref();
  server.once('close', () => clearInterval(timer));
}

function rejectSlowBody(server: Server, socket: Socket, { response }: IncomingBody): void {
  if (response.headersSent) socket.destroy();
  else
    server.emit(
      'clientError',
      Object.assign(new Error('the request body is too slow'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }),
      socket,
    );
}

/** Maximum number of requests that wait for the responses to earlier ones of their connection. */
const maxPipelined = 250;

/**
 * Rejects a request if too many requests of its connection wait, and closes the connection after the response. Otherwise a few
 * kilobytes could start thousands of concurrent requests.
 */
export function limitPipelining(next: RequestListener): RequestListener {
  const waiting = new WeakMap<Socket, number>();
  return (request, response) => {
    // A response gets its socket when the earlier ones have ended.
    if (response.socket !== null) return next(request, response);
    const { socket } = request;
    const count = waiting.get(socket) ?? 0;
    if (count >= maxPipelined) {
      // Each further request would take memory until the connection closes.
      socket.pause();
      waiting.set(socket, Number.POSITIVE_INFINITY);
      if (count === maxPipelined) rejectPipelined(response);
      return;
    }
    waiting.set(socket, count + 1);
    response.once('finish', () => waiting.set(socket, (waiting.get(socket) ?? 0) - 1));
    next(request, response);
  };
}

function rejectPipelined(response: ServerResponse): void {
  const message = `More than ${maxPipelined} requests of this connection wait for responses. Wait for them before you send more.`;
  response.writeHead(400, { 'content-type': 'application/json; charset=utf-8', connection: 'close' });
  response.end(JSON.stringify(toErrorBody(new ParleyError('invalid_request', message))));
}

/** One year (RFC 6797). Does not include subdomains, because other parties may serve them. */
const strictTransport = 'max-age=31536000';

/** Adds the `Strict-Transport-Security` header to every response. For servers that terminate TLS themselves. */
export function withStrictTransport(next: RequestListener): RequestListener {
  return (request, response) => {
    response.setHeader('strict-transport-security', strictTransport);
    next(request, response);
  };
}

const lingerMs = 1_000;

/** Sends a final response and closes the connection after at most 1 s. */
export function endSocket(socket: Socket, responseText: string): void {
  socket.end(responseText);
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(timer));
}
