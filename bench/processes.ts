import { type ChildProcess, type ChildProcessByStdio, spawn, spawnSync } from 'node:child_process';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

/** Core of the contender. The upstream, the load generator, and this runner share the other core. */
export const contenderCore = 0;
export const loadCore = 1;

/** Parameters of a process: its core, its log file, and its environment. */
export interface Command {
  core: number;
  program: string;
  args: readonly string[];
  cwd: string;
  logPath: string;
  environment?: Record<string, string>;
}

/** Processes that this runner has started. All of them end with the runner. */
export class ProcessGroup {
  readonly #running = new Set<ChildProcess>();
  readonly #niceness: number;

  /** A negative `niceness` gives the measured processes precedence on a shared machine and requires root. */
  constructor(niceness: number) {
    this.#niceness = niceness;
  }

  createArguments(core: number, program: string, args: readonly string[]): string[] {
    return ['-n', String(this.#niceness), 'taskset', '-c', String(core), program, ...args];
  }

  /** Starts a process on its core with its output in a file. Its standard input stays open until the runner ends. */
  start(command: Command): ChildProcess {
    const log = openSync(command.logPath, 'a');
    const child = spawn('nice', this.createArguments(command.core, command.program, command.args), {
      cwd: command.cwd,
      env: { PATH: process.env.PATH ?? '/usr/bin:/bin', HOME: process.env.HOME ?? '/', ...command.environment },
      stdio: ['pipe', log, log],
    });
    closeSync(log);
    this.#track(child);
    return child;
  }

  /** Starts the load generator, which writes its result to standard output. */
  startLoad(program: string, args: readonly string[]): ChildProcessByStdio<null, Readable, null> {
    const child = spawn('nice', this.createArguments(loadCore, program, args), { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#track(child);
    return child;
  }

  #track(child: ChildProcess): void {
    this.#running.add(child);
    child.once('error', () => this.#running.delete(child));
    child.once('exit', () => this.#running.delete(child));
  }

  /** Ends one process with SIGTERM, and with SIGKILL after three seconds. */
  async stop(child: ChildProcess): Promise<void> {
    if (!isAlive(child)) return;
    const exited = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    const forced = setTimeout(() => child.kill('SIGKILL'), 3000);
    await exited;
    clearTimeout(forced);
  }

  /** Ends every running process. */
  async stopAll(): Promise<void> {
    await Promise.all([...this.#running].map((child) => this.stop(child)));
  }
}

/** Returns whether a process of this runner still runs. */
export function isAlive(child: ChildProcess): boolean {
  return child.pid !== undefined && child.exitCode === null && child.signalCode === null;
}

/** Returns the last lines of a log for an error message. */
export function readTail(logPath: string): string {
  try {
    return readFileSync(logPath, 'utf8').trimEnd().split('\n').slice(-15).join('\n').slice(-3000);
  } catch {
    return '(no log)';
  }
}

async function readStatus(url: string): Promise<number> {
  try {
    const reply = await fetch(url, { signal: AbortSignal.timeout(1000) });
    await reply.arrayBuffer();
    return reply.status;
  } catch {
    return 0;
  }
}

/** Waits until a URL responds with 200. Throws an error with the end of the log if the process ends or 30 s pass before. */
export async function waitForReply(name: string, child: ChildProcess, url: string, logPath: string): Promise<void> {
  const end = Date.now() + 30_000;
  while (isAlive(child) && Date.now() < end) {
    const status = await readStatus(url);
    if (status === 200) return;
    await sleep(25);
  }
  const what = isAlive(child)
    ? `did not answer 200 at ${url} within 30 s`
    : `ended (${child.exitCode ?? child.signalCode}) before it was ready`;
  throw new Error(`${name} ${what}. The end of its log:\n${readTail(logPath)}`);
}

/** Returns a free loopback port. */
export async function findFreePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no free port');
  return address.port;
}

/**
 * Sets the niceness of the process group of this session if the kernel balances sessions (autogroup). Otherwise, the niceness of
 * a process applies only within its session.
 */
export function setSessionNiceness(niceness: number): void {
  try {
    writeFileSync('/proc/self/autogroup', String(niceness));
  } catch {
    // The kernel does not support autogroups, or this user may not change them.
  }
}

/** Moves this runner to the core of the load, so that the contender has its core alone. */
export function pinRunner(): void {
  const { status, error } = spawnSync('taskset', ['-a', '-c', '-p', String(loadCore), String(process.pid)], { stdio: 'ignore' });
  if (error || status !== 0) throw new Error('taskset (util-linux) and two cores are needed to pin processes');
}
