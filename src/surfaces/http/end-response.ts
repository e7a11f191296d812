import type { ServerResponse } from 'node:http';

/** Milliseconds that a reader may take nothing of what waits for it. */
export const stalledMs = 300_000;

/** Ends an answer with latin1 bytes; a reader that does not take the rest is disconnected. */
export function endResponse(response: ServerResponse, bytes: string): void {
  response.end(bytes, 'latin1');
  if (response.socket !== null && response.socket.writableLength > 0) letGoOfStalled(response);
}

/** Ends the connection of a reader that takes nothing for `stalledMs`. */
export function letGoOfStalled(response: ServerResponse): void {
  response.setTimeout(stalledMs, () => response.destroy());
}
