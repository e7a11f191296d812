import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Server options that limit the time for the headers of a request to 15 s. `paceBodies` limits the time for the body. */
export const headTimeouts = { headersTimeout: 15_000, requestTimeout: 0, connectionsCheckingInterval: 5_000 };

/** Minimum number of body bytes per time window, about half a kilobyte per second. */
const usualPace = { windowMs: 30_000, minBytes: 16 * 1024 };

interface Coming {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Bytes read from the connection at the previous check. Undefined before the first check. */
  bytesRead: number | undefined;
}

/**
 * Answers requests with 408 if their body arrives more slowly than the minimum rate. There is no limit on the total time, so a
 * large body on a slow link may take hours. Bytes that are already buffered do not count against the client's upload rate.
 */
export function paceBodies(server: Server, { windowMs, minBytes } = usualPace): void {
  const coming = new Map<Socket, Coming>();
  const knownSockets = new WeakSet<Socket>();
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket, headers } = request;
    if (headers['transfer-encoding'] === undefined && !(Number(headers['content-length']) > 0)) return;
    coming.set(socket, { request, response, bytesRead: undefined });
    if (knownSockets.has(socket)) return;
    knownSockets.add(socket);
    socket.once('close', () => coming.delete(socket));
  });
  const check = (): void => {
    for (const [socket, state] of coming) {
      const { request, bytesRead = Number.NEGATIVE_INFINITY } = state;
      if (request.complete) coming.delete(socket);
      else if (socket.bytesRead - bytesRead >= minBytes || request.readableLength > 0) state.bytesRead = socket.bytesRead;
      else giveUp(server, socket, state);
    }
  };
  const looking = setInterval(check, windowMs).unref();
  server.once('close', () => clearInterval(looking));
}

function giveUp(server: Server, socket: Socket, { response }: Coming): void {
  if (response.headersSent) socket.destroy();
  else
    server.emit(
      'clientError',
      Object.assign(new Error('the request body is too slow'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }),
      socket,
    );
}
