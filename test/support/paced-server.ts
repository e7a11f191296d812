import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { enforceBodyPace } from '#surfaces/http/server-guards.ts';
import { waitUntilListening } from './listening.ts';

/** Starts a server that reads bodies at 1000 bytes per 100 ms or faster, except for `/later`. */
export async function startPaced(): Promise<{ server: Server; open: (head: string) => Socket }> {
  const server = createServer((request, response) => {
    if (request.url === '/later') setTimeout(() => request.resume(), 500);
    else request.resume();
    if (request.url === '/early') response.writeHead(200).write('begun');
    request.on('end', () => response.end('whole'));
  });
  server.on('clientError', (error: Error & { code?: string }, socket: Socket) => socket.end(`refused: ${error.code}`));
  enforceBodyPace(server, { windowMs: 100, minBytes: 1_000 });
  server.listen(0, '127.0.0.1');
  await waitUntilListening(server);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const open = (path: string): Socket => {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 6000\r\n\r\n`);
    return socket;
  };
  return { server, open };
}
