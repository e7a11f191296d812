import type { ServerResponse } from 'node:http';

/** Returns a signal that aborts when the client disconnects or when the response is complete. */
export function createDisconnectSignal(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  response.once('close', () => controller.abort(new Error('the client closed the connection')));
  return controller.signal;
}
