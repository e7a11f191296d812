import { type ChildProcess, fork } from 'node:child_process';
import { existsSync, realpathSync, writeFileSync } from 'node:fs';
import { sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freeBytes } from '../text/bytes.ts';

/** Bounds of work in a process of its own. */
export interface IsolationBounds {
  readonly timeoutMs: number;
  /** MiB that the process may take, Node itself included (about 60). */
  readonly maxMemoryMb: number;
}

/** What a process is to do. */
interface IsolatedWork<Task> {
  /** A module that calls `serveIsolated`. */
  readonly program: URL;
  /** What structured clone can copy. */
  readonly task: Task;
  /** Given away. */
  readonly bytes: Uint8Array;
  readonly bounds: IsolationBounds;
  readonly signal: AbortSignal;
}

/** What goes to a process. */
export interface IsolatedRequest {
  readonly task: unknown;
  readonly maxMemoryMb: number;
}

/** What comes from it: any number of parts, then `isLast`. */
export interface IsolatedPart {
  readonly part: unknown;
  readonly isLast: boolean;
}

const stackKb = 3900;

/** Locations of Parley's own code. A process may read only these files and the files next to its program. */
const code = [
  new URL('../../../src/', import.meta.url),
  new URL('../../../node_modules/', import.meta.url),
  new URL('../../../package.json', import.meta.url),
];

/**
 * Lets a process of its own read what somebody sent, so that neither its time nor its memory is this one's: it ends when it is done,
 * or is ended when it takes too much, and all it took is given back. It has no environment and no credentials, and by Node's permission
 * model it reads no files but Parley's own code, writes none, opens no sockets and starts no processes. Gives the parts
 * that the program gave. Throws IsolationFault, the signal's reason.
 */
export function runIsolated<Task>({ program, task, bytes, bounds, signal }: IsolatedWork<Task>): Promise<unknown[]> {
  signal.throwIfAborted();
  const { timeoutMs, maxMemoryMb } = bounds;
  const child = fork(program, [], {
    env: {},
    execArgv: [`--max-old-space-size=${maxMemoryMb}`, `--stack-size=${stackKb}`, ...toPermissions(program)],
    serialization: 'advanced',
    // What libraries print about a document is not logged.
    stdio: ['pipe', 'ignore', 'ignore', 'ipc'],
  });
  setOomPriority(child);
  const request: IsolatedRequest = { task, maxMemoryMb };
  child.send(request, () => undefined);
  // A process that ends without having read everything is told of by its end.
  child.stdin?.on('error', () => undefined).end(bytes);
  return new Promise<unknown[]>((resolve, reject) => {
    const timeout = setTimeout(() => fail(new IsolationError('late', `it took more than ${timeoutMs / 1000} s`)), timeoutMs);
    const onAbort = (): void => fail(signal.reason);
    const fail = (reason: unknown): void => {
      reject(reason);
      child.kill('SIGKILL');
    };
    const parts: unknown[] = [];
    child.on('message', ({ part, isLast }: IsolatedPart) => {
      parts.push(part);
      if (isLast) resolve(parts);
    });
    child.on('error', () => fail(new IsolationError('crashed', 'its process cannot be started')));
    // Not 'exit': what it said before may still be on its way.
    child.on('close', () => reject(toIsolationError(child, maxMemoryMb)));
    child.on('close', () => {
      clearTimeout(timeout);
      freeBytes(bytes);
      signal.removeEventListener('abort', onAbort);
    });
    signal.addEventListener('abort', onAbort, { once: true });
  });
}

/**
 * Returns the Node options for the permissions of the process. The thread that watches its memory is started before the right to
 * start threads is dropped.
 */
function toPermissions(program: URL): readonly string[] {
  const readable = new Set([new URL('./', program), ...code].map((url) => fileURLToPath(url)).flatMap(listWithTarget));
  return ['--permission', '--allow-worker', ...[...readable].map((path) => `--allow-fs-read=${path}`)];
}

/** Modules are loaded from where a link leads: `node_modules` may be one. */
function listWithTarget(path: string): readonly string[] {
  if (!existsSync(path)) return [];
  const target = realpathSync(path);
  return [path, path.endsWith(sep) ? `${target}${sep}` : target];
}

/** Where the kernel runs out of memory it ends that process, and not this one. */
function setOomPriority({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) writeFileSync(`/proc/${pid}/oom_score_adj`, '1000');
  } catch {
    // Only Linux has it.
  }
}

/** Only its own watch, the kernel short of memory, and V8 short of heap end a process by these signals. */
function toIsolationError({ signalCode }: ChildProcess, maxMemoryMb: number): IsolationError {
  const isMemory = signalCode === 'SIGKILL' || signalCode === 'SIGABRT' || signalCode === 'SIGTRAP' || signalCode === 'SIGILL';
  return isMemory
    ? new IsolationError('memory', `it needs more than ${maxMemoryMb} MiB`)
    : new IsolationError('crashed', 'its process ended unexpectedly');
}

/** `late`: it took too long; `memory`: it needs more than it may have; `crashed`: it ended otherwise; `busy`: too much of its owner waits already. */
export type IsolationReason = 'late' | 'memory' | 'crashed' | 'busy';

/** Why work that was given away came to nothing. */
export class IsolationError extends Error {
  override readonly name = 'IsolationError';
  readonly reason: IsolationReason;

  constructor(reason: IsolationReason, message: string) {
    super(message);
    this.reason = reason;
  }
}
