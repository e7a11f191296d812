import cluster, { type Worker } from 'node:cluster';
import { type ChannelMessage, RequestChannel, type RequestHandler } from '#base/net/request-channel.ts';
import type { Clock } from '#base/time/clock.ts';
import type { Log } from '#telemetry/log.ts';
import { workerCountVariable } from '../process/memory-shares.ts';
import { workerVariable } from './worker-context.ts';

/** A worker that lives at least this long was healthy, so its replacement starts immediately. */
const healthyMs = 10_000;
const firstDelayMs = 500;
const maxDelayMs = 30_000;
/** Interval of the checks that each worker answers. */
const checkMs = 5_000;
/** Time without an answer after which a worker is replaced. */
const maxUnansweredMs = 30_000;
/** Delay of a check that counts as a pause of this process. The workers may have been paused too. */
const minPauseMs = 1_000;

/** One worker process. */
export interface WorkerProcess {
  readonly slot: number;
  /** Number that no other process of the node had. */
  readonly worker: number;
  readonly channel: RequestChannel;
}

/** Dependencies of `Supervisor`. */
export interface SupervisorDeps {
  readonly count: number;
  readonly clock: Clock;
  readonly log: Log;
  /** Returns the handlers for the requests of a worker. */
  readonly createHandlers: (process: WorkerProcess) => ReadonlyMap<string, RequestHandler>;
  /** Called with complete lines of a worker's log. */
  readonly onLines: (lines: string) => void;
  /** Called when a worker can no longer send requests. */
  readonly onRemoved: (process: WorkerProcess) => void;
}

interface RunningWorker extends WorkerProcess {
  readonly child: Worker;
  readonly startedAtMs: number;
  isReady: boolean;
  /** Time since the first check without an answer, except for pauses of this process. */
  unansweredMs: number;
  /** Reason why the worker could not start, or was killed. */
  failure: string | undefined;
}

/** Thrown if a worker ends before it serves, at the start of the node. */
export class WorkerStartError extends Error {}

/** Starts the workers of a node and replaces those that end. */
export class Supervisor {
  readonly #deps: SupervisorDeps;
  readonly #running = new Map<number, RunningWorker>();
  readonly #failuresInARow = new Map<number, number>();
  /** Reasons why the workers of these positions could not start, or were killed. */
  readonly #lastFailures = new Map<number, string>();
  #lastWorker = 0;
  #lastCheckMs = 0;
  #isStarted = false;
  #isStopping = false;
  #worstExitCode = 0;
  #onChange: () => void = () => undefined;

  constructor(deps: SupervisorDeps) {
    this.#deps = deps;
    cluster.setupPrimary({ stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  }

  /** All worker processes, including those that are starting. */
  get all(): readonly WorkerProcess[] {
    return [...this.#running.values()];
  }

  /** Workers that serve. */
  get ready(): readonly WorkerProcess[] {
    return [...this.#running.values()].filter(({ isReady }) => isReady);
  }

  /** Positions without a worker that serves, with the reason if it is known. */
  get missing(): readonly { readonly slot: number; readonly failure: string | undefined }[] {
    const slots = Array.from({ length: this.#deps.count }, (_, index) => index + 1);
    const ready = new Set(this.ready.map(({ slot }) => slot));
    return slots.filter((slot) => !ready.has(slot)).map((slot) => ({ slot, failure: this.#lastFailures.get(slot) }));
  }

  find(worker: number): WorkerProcess | undefined {
    return this.#running.get(worker);
  }

  /**
   * Starts all workers. The first one starts alone, so that an error that all of them have is reported once. Throws
   * `WorkerStartError`.
   */
  async start(): Promise<void> {
    await this.#startSlot(1);
    await Promise.all(Array.from({ length: this.#deps.count - 1 }, (_, index) => this.#startSlot(index + 2)));
    this.#isStarted = true;
    setInterval(() => this.#checkWorkers(), checkMs).unref();
  }

  /** Marks a worker as serving. */
  markReady({ worker, slot }: WorkerProcess): void {
    const running = this.#running.get(worker);
    if (running !== undefined) running.isReady = true;
    this.#lastFailures.delete(slot);
    this.#onChange();
  }

  /** Records why a worker cannot start, or is killed. */
  markFailed({ worker, slot }: WorkerProcess, reason: string): void {
    const running = this.#running.get(worker);
    if (running !== undefined) running.failure = reason;
    this.#lastFailures.set(slot, reason);
  }

  sendAll(topic: string, body: unknown): void {
    for (const { channel } of this.#running.values()) channel.send(topic, body);
  }

  /** Passes a stop signal to all workers, and kills them after `maxMs`. Resolves with the highest exit code after all have ended. */
  async stop(signal: NodeJS.Signals, maxMs: number): Promise<number> {
    this.#isStopping = true;
    this.sendAll('signal', signal);
    const killTimer = setTimeout(() => this.kill(), maxMs);
    await this.#waitUntil(() => this.#running.size === 0);
    clearTimeout(killTimer);
    return this.#worstExitCode;
  }

  /** Ends all workers immediately. */
  kill(): void {
    this.#isStopping = true;
    for (const { child } of this.#running.values()) child.process.kill('SIGKILL');
  }

  async #startSlot(slot: number): Promise<void> {
    const running = this.#fork(slot);
    await this.#waitUntil(() => running.isReady || !this.#running.has(running.worker));
    if (!running.isReady) throw new WorkerStartError(running.failure ?? 'a worker ended at its start. The log has the reason');
  }

  #fork(slot: number): RunningWorker {
    const { clock, count, createHandlers, onLines, onRemoved } = this.#deps;
    this.#lastWorker += 1;
    const child = cluster.fork({ [workerVariable]: String(slot), [workerCountVariable]: String(count) });
    const handlers = new Map<string, RequestHandler>();
    const channel = new RequestChannel((message) => void child.send(message, undefined, () => undefined), handlers);
    const base = { slot, worker: this.#lastWorker, channel };
    for (const [topic, handler] of createHandlers(base)) handlers.set(topic, handler);
    const state = { startedAtMs: clock.nowMs(), isReady: false, unansweredMs: 0, failure: undefined };
    const running: RunningWorker = { ...base, ...state, child };
    this.#running.set(running.worker, running);
    child.on('message', (message: ChannelMessage) => channel.receive(message));
    child.on('error', () => undefined);
    child.on('disconnect', () => {
      channel.close();
      onRemoved(running);
    });
    // The output can end after the process.
    const outputEnded = new Promise<void>((resolve) => child.process.stdout?.once('close', resolve));
    forwardLines(child, onLines);
    child.on('exit', (code, signal) => void outputEnded.then(() => this.#onExit(running, code, signal)));
    return running;
  }

  /** Kills workers that serve but no longer answer, so that they are replaced. A pause of this process does not count. */
  #checkWorkers(): void {
    const nowMs = this.#deps.clock.nowMs();
    const wasPaused = nowMs - this.#lastCheckMs >= checkMs + minPauseMs;
    this.#lastCheckMs = nowMs;
    if (wasPaused || this.#isStopping) return;
    for (const running of this.#running.values()) {
      if (!running.isReady) continue;
      if (running.unansweredMs >= maxUnansweredMs) {
        this.markFailed(running, `it did not answer for ${maxUnansweredMs / 1000} s`);
        running.child.process.kill('SIGKILL');
      }
      running.unansweredMs += checkMs;
      const onAnswer = (): void => {
        running.unansweredMs = 0;
      };
      running.channel.request('check', null, { timeoutMs: maxUnansweredMs, onAnswer }).catch(() => undefined);
    }
  }

  #onExit(running: RunningWorker, code: number | null, signal: string | null): void {
    const { clock, log } = this.#deps;
    const { slot, worker, child, isReady, startedAtMs, failure } = running;
    this.#running.delete(worker);
    if (this.#isStopping) this.#worstExitCode = Math.max(this.#worstExitCode, code ?? 1);
    this.#onChange();
    if (this.#isStopping || !this.#isStarted) return;
    const wasHealthy = isReady && clock.nowMs() - startedAtMs >= healthyMs;
    const failures = wasHealthy ? 0 : (this.#failuresInARow.get(slot) ?? 0);
    this.#failuresInARow.set(slot, failures + 1);
    const delayMs = failures === 0 ? 0 : Math.min(maxDelayMs, firstDelayMs * 2 ** (failures - 1));
    const fields = { worker: slot, pid: child.process.pid ?? null, exit_code: code, signal, delay_ms: delayMs };
    log.error(`a worker ended, another one replaces it${failure === undefined ? '' : `: ${failure}`}`, undefined, fields);
    setTimeout(() => {
      if (!this.#isStopping) this.#fork(slot);
    }, delayMs);
  }

  /** Resolves when the condition is true after a change of a worker. */
  #waitUntil(condition: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const previous = this.#onChange;
      let isDone = false;
      const check = (): void => {
        previous();
        if (isDone || !condition()) return;
        isDone = true;
        resolve();
      };
      this.#onChange = check;
      check();
    });
  }
}

/** Passes complete lines on, so that lines of different workers never mix. */
function forwardLines(child: Worker, onLines: (lines: string) => void): void {
  let incompleteLine = '';
  const { stdout } = child.process;
  stdout?.setEncoding('utf8');
  stdout?.on('data', (text: string) => {
    // Most reads end at the end of a line.
    if (incompleteLine === '' && text.endsWith('\n')) return onLines(text);
    const lines = (incompleteLine + text).split('\n');
    incompleteLine = lines.pop() ?? '';
    if (lines.length > 0) onLines(`${lines.join('\n')}\n`);
  });
  stdout?.on('close', () => {
    if (incompleteLine !== '') onLines(`${incompleteLine}\n`);
  });
}
