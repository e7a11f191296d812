import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sendRequest } from '#test/send-request.ts';
import { type ProcessOptions, startProcess, type TestProcess } from '#test/start-process.ts';
import type { Tally } from '../tally.ts';
import type { Readings } from './loop-monitor.ts';

/** A service in a separate process that reports its event loop and its resources. */
export interface WatchedNode extends TestProcess {
  collectAndRead(): Promise<Readings>;
  /** Reads without a garbage collection, which takes longer than most inputs. */
  peek(): Promise<Readings>;
  /** Returns a value of `/metrics`, or 0 if it is missing. */
  metric(name: string): Promise<number>;
}

const monitor = new URL('loop-monitor.ts', import.meta.url).pathname;
const maxSettlingMs = 15_000;
const ownErrorPattern = /uncaught|unhandled|"code":"internal_error"|heap out of memory/i;

/** Starts the built service with the monitor. It logs only errors. */
export async function startWatched(options: ProcessOptions): Promise<WatchedNode> {
  const socketPath = join(tmpdir(), `parley-chaos-${process.pid}-${Math.random().toString(36).slice(2)}.sock`);
  const environment = {
    LOG_LEVEL: 'error',
    PARLEY_CHAOS_MONITOR: socketPath,
    NODE_OPTIONS: `--expose-gc --import=${monitor}`,
    ...options.environment,
  };
  const node = await startProcess({ ...options, environment });
  return Object.assign(node, {
    collectAndRead: (): Promise<Readings> => readFrom(socketPath, 'collect'),
    peek: (): Promise<Readings> => readFrom(socketPath, 'look'),
    async metric(name: string): Promise<number> {
      const { text } = await sendRequest(node.url, { method: 'GET', path: '/metrics' });
      const values = [...text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'gm'))].map(([, value]) => Number(value));
      return values.reduce((sum, value) => sum + value, 0);
    },
  });
}

function readFrom(path: string, request: 'collect' | 'look'): Promise<Readings> {
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(path).setEncoding('utf8');
    socket.write(request);
    socket.on('data', (piece: string) => {
      text += piece;
    });
    socket.on('error', reject).on('end', () => resolve(JSON.parse(text) as Readings));
  });
}

/**
 * Requires that a node runs, has no more calls in progress, has released its descriptors, and did not block its event loop.
 * `before` is the measurement before the harm.
 */
export async function requireSettled(node: WatchedNode, before: Readings, tally: Tally): Promise<void> {
  const endMs = performance.now() + maxSettlingMs;
  let open = { calls: Number.NaN, streams: Number.NaN, descriptors: Number.NaN };
  let blockedMs = 0;
  for (;;) {
    const now = await node.collectAndRead();
    blockedMs = Math.max(blockedMs, now.blockedMs);
    const [calls, streams] = [await node.metric('parley_open_calls'), await node.metric('parley_open_streams')];
    open = { calls, streams, descriptors: now.descriptors - before.descriptors };
    tally.peak('rss MB', Math.round(now.rssBytes / 2 ** 20));
    tally.peak('heap MB at the end', Math.round(now.heapBytes / 2 ** 20));
    if ((calls === 0 && streams === 0 && open.descriptors <= 20) || performance.now() > endMs) break;
    await sleep(250);
  }
  tally.require(open.calls === 0 && open.streams === 0, () => `calls are left open: ${JSON.stringify(open)}`);
  tally.require(open.descriptors <= 20, () => `descriptors are not given back: ${open.descriptors} more than before`);
  requireUnblocked('afterwards', { blockedMs }, tally);
  const { status } = await sendRequest(node.url, { method: 'GET', path: '/health' });
  tally.require(status === 200, () => `/health says ${status}`);
  requireQuietLog(node, tally);
}

/** Records a fault if a node ends before `isOver`. */
export function requireToLive(node: Pick<TestProcess, 'ended'>, tally: Tally, hasEnded: () => boolean): void {
  void node.ended.then(({ code, signal, stdout, stderr }) => {
    if (!hasEnded()) tally.addFault(`a node ended with ${code ?? signal}: ${stdout.slice(-800)} ${stderr.slice(-800)}`);
  });
}

/** Requires that the event loop was not blocked since the last measurement. */
export function requireUnblocked(what: string, { blockedMs }: Pick<Readings, 'blockedMs'>, tally: Tally): void {
  tally.peak('blocked ms', Math.round(blockedMs));
  tally.require(blockedMs <= tally.mayBlockMs, () => `${what}: the event loop was blocked for ${Math.round(blockedMs)} ms`);
}

/** Requires that a node logged no internal error. */
export function requireQuietLog({ output }: Pick<TestProcess, 'output'>, tally: Tally): void {
  const lines = `${output.stdout}\n${output.stderr}`.split('\n');
  for (const line of lines.filter((text) => ownErrorPattern.test(text)).slice(0, 5)) tally.addFault(`the node logs: ${line}`);
}
