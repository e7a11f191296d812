import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Options of a server whose callers must have sent the head of a request within 15 s; `paceBodies` looks after what follows it. */
export const headTimeouts = { headersTimeout: 15_000, requestTimeout: 0, connectionsCheckingInterval: 5_000 };

/** How many bytes have to come within how many milliseconds: half a kilobyte a second. */
const usualPace = { windowMs: 30_000, minBytes: 16 * 1024 };

interface Coming {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Read from the connection when it was last looked at; undefined if its first window has not begun. */
  bytesRead: number | undefined;
}

/**
 * Ends requests whose body stalls: a large one on a slow link may take hours, a trickle does not hold a connection.
 * What has come and is not taken yet is no fault of the caller's. They are answered 408, as slow heads are.
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
    server.emit('clientError', Object.assign(new Error('the body does not come'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket);
}
