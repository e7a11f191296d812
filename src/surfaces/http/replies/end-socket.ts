import type { Socket } from 'node:net';

const lingerMs = 1_000;

/** Sends a final response and closes the connection after at most 1 s. */
export function endSocket(socket: Socket, responseText: string): void {
  socket.end(responseText);
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(timer));
}
