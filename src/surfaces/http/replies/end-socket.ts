import type { Socket } from 'node:net';

const lingerMs = 1_000;

/** Says the last words on a connection, and closes it a moment later whatever the other side does. */
export function endSocket(socket: Socket, responseText: string): void {
  socket.end(responseText);
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(timer));
}
