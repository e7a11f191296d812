import { readdirSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { isMainThread } from 'node:worker_threads';

// Preloaded into a service. Reports on a socket for how long its event loop was blocked and which resources it holds.

/** One slow turn of the event loop. */
export interface SlowTurn {
  /** Time on the clock of `Date.now`. */
  readonly endMs: number;
  readonly lateMs: number;
  readonly blockedMs: number;
}

/** Measurements that a service reports. */
export interface Readings {
  /** Longest time between two turns of the event loop since the last report. */
  readonly lateMs: number;
  /** CPU time of the thread within `lateMs`. Other processes took the remaining time. */
  readonly blockedMs: number;
  /** Turns with more than 100 ms of work. */
  readonly slowTurns: readonly SlowTurn[];
  readonly rssBytes: number;
  /** Heap size, after a full garbage collection if the request asks for one. */
  readonly heapBytes: number;
  readonly descriptors: number;
}

const everyMs = 20;
const slowMs = 100;
const maxTurns = 100;
const path = process.env.PARLEY_CHAOS_MONITOR;

function watch(socketPath: string): void {
  let lateMs = 0;
  let blockedMs = 0;
  let slowTurns: SlowTurn[] = [];
  let before = { atMs: performance.now(), cpu: process.threadCpuUsage() };
  const sample = (): void => {
    const now = { atMs: performance.now(), cpu: process.threadCpuUsage() };
    const late = now.atMs - before.atMs - everyMs;
    const worked = (now.cpu.user - before.cpu.user + now.cpu.system - before.cpu.system) / 1000;
    lateMs = Math.max(lateMs, late);
    const blocked = Math.min(late, worked);
    blockedMs = Math.max(blockedMs, blocked);
    if (blocked > slowMs && slowTurns.length < maxTurns) slowTurns.push({ endMs: Date.now(), lateMs: late, blockedMs: blocked });
    before = now;
  };
  setInterval(sample, everyMs).unref();
  const reply = (socket: Socket, request: string): void => {
    const figures = { lateMs, blockedMs, slowTurns };
    if (request === 'collect') globalThis.gc?.();
    const { rss, heapUsed } = process.memoryUsage();
    const descriptors = readdirSync('/proc/self/fd').length;
    const readings: Readings = { ...figures, rssBytes: rss, heapBytes: heapUsed, descriptors };
    [lateMs, blockedMs, slowTurns] = [0, 0, []];
    before = { atMs: performance.now(), cpu: process.threadCpuUsage() };
    socket.end(JSON.stringify(readings));
  };
  const server = createServer((socket) => {
    socket.on('error', () => undefined).once('data', (request) => reply(socket, String(request)));
  });
  server.on('error', () => undefined).listen(socketPath);
  server.unref();
}

if (path !== undefined && isMainThread) watch(path);
