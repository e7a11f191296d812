import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, realpathSync, writeFileSync } from 'node:fs';
import { sep } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { freeBytes } from '../text/bytes.ts';

/** Limits for work in a separate process. */
export interface IsolationBounds {
  readonly timeoutMs: number;
  /** Maximum memory of the process in MiB, including Node itself (about 60 MiB). */
  readonly maxMemoryMb: number;
}

/** Work for a separate process. */
interface IsolatedWork<Task> {
  /** URL of a module that calls `serveIsolated`. */
  readonly program: URL;
  /** Input of the work. Must be structured-cloneable. */
  readonly task: Task;
  /** Input bytes. Their memory is freed when the process ends, so the caller must not use them afterward. */
  readonly bytes: Uint8Array;
  readonly bounds: IsolationBounds;
  readonly signal: AbortSignal;
}

/** Message to the process. */
interface IsolatedRequest {
  readonly task: unknown;
  readonly maxMemoryMb: number;
}

/** First message from the process: the program is loaded, so that a later error is caused by its input. */
const readyMessage = 'ready';

/** Further message from the process: any number of parts. The final part has `isLast`. */
interface IsolatedPart {
  readonly part: unknown;
  readonly isLast: boolean;
}

const stackKb = 3900;

/** Outermost `node_modules` that contains Parley, if it is an installed package. npm installs its dependencies there. */
const [installFolder] = /^.*?\/node_modules\//.exec(import.meta.url) ?? [];

/** Parley's own code and its packages. A process may read only these files and the files next to its program. */
const codeUrls = [
  new URL('../../../src/', import.meta.url),
  new URL('../../../node_modules/', import.meta.url),
  new URL('../../../package.json', import.meta.url),
  ...(installFolder === undefined ? [] : [new URL(installFolder)]),
];

/**
 * Processes untrusted input in a separate process, so that it cannot exhaust the time or memory of this process. Returns the
 * parts that the program sends. Throws `IsolationError`, or the signal's reason if it is aborted.
 * - The child process ends after its work, or is killed if it exceeds its limits.
 * - It has no environment and no credentials.
 * - Under Node's permission model, it reads only Parley's own code, installed packages, and the files next to its program. It
 * cannot write files, open sockets, or start processes.
 */
export function runIsolated<Task>({ program, task, bytes, bounds, signal }: IsolatedWork<Task>): Promise<unknown[]> {
  signal.throwIfAborted();
  const { timeoutMs, maxMemoryMb } = bounds;
  const child = fork(program, [], {
    env: {},
    execArgv: [`--max-old-space-size=${maxMemoryMb}`, `--stack-size=${stackKb}`, ...toPermissions(program)],
    // A SIGTERM to the process group of Parley would end the work.
    detached: true,
    serialization: 'advanced',
    // Libraries may print parts of the document, which must not be logged.
    stdio: ['pipe', 'ignore', 'ignore', 'ipc'],
  });
  setOomPriority(child);
  const request: IsolatedRequest = { task, maxMemoryMb };
  child.send(request, () => undefined);
  // Errors of the pipe are ignored: if the process ends early, its `close` event reports the error.
  child.stdin?.on('error', () => undefined).end(bytes);
  return new Promise<unknown[]>((resolve, reject) => {
    const timeout = setTimeout(() => fail(new IsolationError('late', `it took more than ${timeoutMs / 1000} s`)), timeoutMs);
    const onAbort = (): void => fail(signal.reason);
    const fail = (reason: unknown): void => {
      reject(reason);
      child.kill('SIGKILL');
    };
    const parts: unknown[] = [];
    let isReady = false;
    child.on('message', (message: typeof readyMessage | IsolatedPart) => {
      isReady = true;
      if (message === readyMessage) return;
      parts.push(message.part);
      if (message.isLast) resolve(parts);
    });
    child.on('error', () => fail(createStartError()));
    // Uses `close`, not `exit`, because messages may still arrive after `exit`.
    child.on('close', () => {
      reject(toIsolationError(child, { maxMemoryMb, isReady }));
      clearTimeout(timeout);
      freeBytes(bytes);
      signal.removeEventListener('abort', onAbort);
    });
    signal.addEventListener('abort', onAbort, { once: true });
  });
}

/** Returns Node's permission options. The right to start threads is dropped after the thread that watches the memory starts. */
function toPermissions(program: URL): readonly string[] {
  const readable = new Set([new URL('./', program), ...codeUrls].map((url) => fileURLToPath(url)).flatMap(listWithTarget));
  return ['--permission', '--allow-worker', ...[...readable].map((path) => `--allow-fs-read=${path}`)];
}

/** Returns the path and the target of its links. Node loads modules from the target, and `node_modules` may be a link. */
function listWithTarget(path: string): readonly string[] {
  if (!existsSync(path)) return [];
  const target = realpathSync(path);
  return [path, path.endsWith(sep) ? `${target}${sep}` : target];
}

/** Makes the kernel kill the child process, not this one, if the system runs out of memory. */
function setOomPriority({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) writeFileSync(`/proc/${pid}/oom_score_adj`, '1000');
  } catch {
    // Only Linux has this file.
  }
}

function createStartError(): IsolationError {
  return new IsolationError('unavailable', 'its process cannot be started');
}

/** Signals of the memory watch, of the kernel's OOM killer, and of an exhausted V8 heap. */
const memorySignals: ReadonlySet<NodeJS.Signals | null> = new Set(['SIGKILL', 'SIGABRT', 'SIGTRAP', 'SIGILL']);
/** Signals that other programs send to end a process. */
const endSignals: ReadonlySet<NodeJS.Signals | null> = new Set(['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT']);

function toIsolationError(
  { signalCode }: ChildProcess,
  { maxMemoryMb, isReady }: { readonly maxMemoryMb: number; readonly isReady: boolean },
): IsolationError {
  if (memorySignals.has(signalCode)) return new IsolationError('memory', `it needs more than ${maxMemoryMb} MiB`);
  if (endSignals.has(signalCode)) return new IsolationError('unavailable', `its process was ended by ${signalCode}`);
  return isReady ? new IsolationError('crashed', 'its process ended unexpectedly') : createStartError();
}

/**
 * `late`: the work exceeded its time limit. `memory`: the work exceeded its memory limit. `unavailable`: the process cannot be
 * started, or was ended from outside. `crashed`: the process ended for another reason, because of its input. `busy`: too many
 * tasks of one owner wait in a `FairQueue`.
 */
export type IsolationReason = 'late' | 'memory' | 'unavailable' | 'crashed' | 'busy';

export class IsolationError extends Error {
  override readonly name = 'IsolationError';
  readonly reason: IsolationReason;

  constructor(reason: IsolationReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** Sends a part of the result to the parent process. Resolves when it is sent. */
export type SendPart = (part: unknown) => Promise<void>;

/**
 * Entry point of a program for `runIsolated`. Call it once. `work` receives the task and the bytes and returns the last part of
 * the result. It can send earlier parts with `sendPart`, because one large message would block the event loop of the parent.
 */
export async function serveIsolated<Task>(
  work: (task: Task, bytes: Uint8Array<ArrayBuffer>, sendPart: SendPart) => Promise<unknown>,
): Promise<void> {
  process.once('disconnect', () => process.exit());
  const [[request], bytes] = await Promise.all([once(process, 'message'), buffer(process.stdin)]);
  const { task, maxMemoryMb } = request as IsolatedRequest;
  await watchMemory(maxMemoryMb);
  process.send?.(readyMessage);
  process.permission.drop('worker');
  const sendPart = (part: unknown, isLast = false): Promise<void> =>
    new Promise((resolve) => process.send?.({ part, isLast } satisfies IsolatedPart, () => resolve()));
  const ownBytes = new Uint8Array(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteLength);
  await sendPart(await work(task as Task, ownBytes, (part) => sendPart(part)), true);
  process.exit();
}

/** Watches the memory from a separate thread, because the work may block this one. */
async function watchMemory(maxMemoryMb: number): Promise<void> {
  const watch = new Worker(new URL('./memory-watch.js', import.meta.url), {
    workerData: { maxBytes: maxMemoryMb * 1024 ** 2, parent: process.ppid },
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 1 },
  });
  watch.unref();
  await once(watch, 'message');
}
