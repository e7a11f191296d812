import type { ServerResponse } from 'node:http';

/** Aborted when the caller leaves, and when the answer was sent. */
export function leavingSignal(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  response.once('close', () => controller.abort(new Error('the caller closed the connection')));
  return controller.signal;
}
