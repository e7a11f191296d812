import { createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { waitUntilListening } from '#test/listening.ts';
import type { Step } from './fault.ts';

/** A received request with its body as text. */
export interface HostileRequest {
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

/** An upstream on raw sockets that runs the given steps for each request. */
export interface HostileUpstream extends AsyncDisposable {
  readonly url: string;
  /** Returns the number of open connections. */
  readonly open: () => number;
  readonly requests: () => number;
}

type Choose = (request: HostileRequest) => readonly Step[];

export async function startHostileUpstream(choose: Choose): Promise<HostileUpstream> {
  const sockets = new Set<Socket>();
  let requests = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    serve(socket, (request) => {
      requests += 1;
      return choose(request);
    });
  });
  server.listen(0, '127.0.0.1', 4096);
  await waitUntilListening(server);
  return {
    url: `http://127.0.0.1:${getPort(server)}`,
    open: () => sockets.size,
    requests: () => requests,
    [Symbol.asyncDispose]: () => closeServer(server, sockets),
  };
}

/** Returns the port of a server. */
export function getPort(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Closes a server and all its connections. */
export async function closeServer(server: Server, sockets: Iterable<Socket>): Promise<void> {
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => server.close(resolve));
}

/** Reads requests one after the other. Reads the next request only after the reply to the previous one was sent. */
export function serve(socket: Socket, choose: Choose): void {
  let received = '';
  let isBusy = false;
  const answerNext = async (): Promise<void> => {
    if (isBusy) return;
    const end = received.indexOf('\r\n\r\n');
    if (end < 0) return;
    const length = Number(/\r\ncontent-length: *(\d+)/i.exec(received.slice(0, end + 2))?.[1] ?? 0);
    if (received.length < end + 4 + length) return;
    const [method = '', path = ''] = received.split(' ', 2);
    const body = received.slice(end + 4, end + 4 + length);
    received = received.slice(end + 4 + length);
    isBusy = true;
    await play(socket, choose({ method, path, body }));
    isBusy = false;
    if (!socket.destroyed) await answerNext();
  };
  socket.setEncoding('latin1').on('data', (piece) => {
    received += String(piece);
    void answerNext();
  });
}

async function play(socket: Socket, steps: readonly Step[]): Promise<void> {
  for (const step of steps) {
    if (socket.destroyed) return;
    if (Buffer.isBuffer(step)) await write(socket, step);
    else if (step.kind === 'wait') await sleep(step.ms);
    else if (step.kind === 'repeat') await repeat(socket, step);
    else if (step.kind === 'stall') return;
    else if (step.kind === 'close') return void socket.end();
    else return void socket.resetAndDestroy();
  }
}

/** Resolves when the kernel has accepted the bytes or the peer has disconnected. */
function write(socket: Socket, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => {
    if (socket.destroyed) return resolve();
    const done = (): void => {
      socket.off('close', done);
      resolve();
    };
    socket.once('close', done);
    socket.write(bytes, done);
  });
}

async function repeat(socket: Socket, { bytes, times, everyMs }: Extract<Step, { kind: 'repeat' }>): Promise<void> {
  for (let index = 0; index < times && !socket.destroyed; index += 1) {
    await write(socket, bytes);
    if (everyMs > 0) await sleep(everyMs);
  }
}
