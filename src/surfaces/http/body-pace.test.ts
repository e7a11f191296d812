import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as passed } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listeningAt } from '#test/listening.ts';
import { paceBodies } from './body-pace.ts';

/** A server that reads bodies at a pace of at least 1000 bytes in 100 ms, but for what is to be read later. */
async function startPaced(): Promise<{ server: Server; open: (head: string) => Socket }> {
  const server = createServer((request, response) => {
    if (request.url === '/later') setTimeout(() => request.resume(), 500);
    else request.resume();
    if (request.url === '/early') response.writeHead(200).write('begun');
    request.on('end', () => response.end('whole'));
  });
  server.on('clientError', (error: Error & { code?: string }, socket: Socket) => socket.end(`refused: ${error.code}`));
  paceBodies(server, { windowMs: 100, minBytes: 1_000 });
  server.listen(0, '127.0.0.1');
  await listeningAt(server);
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

async function readAll(socket: Socket): Promise<string> {
  let said = '';
  socket.setEncoding('utf8').on('data', (piece: string) => {
    said += piece;
  });
  if (!socket.destroyed) await once(socket, 'close');
  return said;
}

describe('a slow body', () => {
  it('that only trickles is ended, and so is one that never comes', async () => {
    const { open } = await startPaced();
    const trickle = open('/');
    const dripping = setInterval(() => trickle.write('x'), 20);
    onTestFinished(() => clearInterval(dripping));
    expect(await Promise.all([readAll(trickle), readAll(open('/'))])).toEqual([
      'refused: ERR_HTTP_REQUEST_TIMEOUT',
      'refused: ERR_HTTP_REQUEST_TIMEOUT',
    ]);
  });

  it('that comes on is read to its end, however long it takes', async () => {
    const { open } = await startPaced();
    const socket = open('/');
    const whole = readAll(socket);
    for (let sent = 0; sent < 6_000; sent += 600) {
      socket.write('x'.repeat(600));
      await passed(40);
    }
    expect(await whole).toMatch(/whole$/);
  });

  it('is not blamed on its sender where nobody reads it yet', async () => {
    const { open } = await startPaced();
    const socket = open('/later');
    socket.write('x'.repeat(6_000));
    expect(await readAll(socket)).toMatch(/whole$/);
  });

  it('of a request that is being answered already ends without a word', async () => {
    const { open } = await startPaced();
    expect(await readAll(open('/early'))).toMatch(/begun\r\n$/);
  });
});
