import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/** Resolves once a server listens; rejects where it cannot. */
export async function listeningAt(server: Server): Promise<void> {
  if (!server.listening) await once(server, 'listening');
}

/** A port nobody listened at a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await listeningAt(server);
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}
