import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/** Resolves when the server listens. Rejects if it cannot listen. */
export async function waitUntilListening(server: Server): Promise<void> {
  if (!server.listening) await once(server, 'listening');
}

/** Returns whether a server can listen on the port. */
export async function isPortFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await waitUntilListening(server);
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}

/** Returns a port that was free a moment ago. */
export async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await waitUntilListening(server);
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}
