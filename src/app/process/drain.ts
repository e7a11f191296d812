import type { Clock } from '#base/time/clock.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import type { Log } from '#telemetry/log.ts';
import { type Closing, closeInOrder } from './close-in-order.ts';
import type { KeptConnections } from './kept-connections.ts';

/** The part of an HTTP server that a stop needs; Node's has it. */
interface StoppableServer {
  close(closed: () => void): unknown;
  closeIdleConnections(): void;
  closeAllConnections(): void;
}

/** The calls under way, as `InFlightCalls` keeps them. */
interface StoppableCalls {
  readonly size: number;
  /** Refuses new calls; resolves when the last one has left. */
  close(): Promise<void>;
  abort(reason: unknown): void;
}

export interface DrainDeps {
  readonly server: StoppableServer;
  readonly connections: Pick<KeptConnections, 'closeBehindAnswers'>;
  readonly calls: StoppableCalls;
  readonly clock: Clock;
  readonly log: Log;
  /** How long open calls may go on (`PARLEY_DRAIN_MS`). */
  readonly drainMs: number;
  /** How much of it new calls are still taken for after a SIGTERM, so that a balancer sees the node is not ready (`PARLEY_LAME_DUCK_MS`); 0 where absent. */
  readonly lameDuckMs?: number;
  /** What else is open, to be closed stage after stage: doors, exporters, stores, the log. */
  readonly closing: Closing;
  readonly exit: (code: number) => void;
}

const sweepMs = 100;
/** For calls that were aborted to say so. */
const lastWordsMs = 500;
/** To write what waits for the journal, and to close what else is open. */
const closeMs = 5_000;
const interrupted = 130;

/**
 * Stops a node without breaking what it does: it is not ready, each answer closes its connection, and a moment later takes no new connection and no new call; open calls end in peace, up to a bound;
 * those left get `shutting_down` as their last event. A second signal ends the process at once.
 */
export class Drain {
  readonly #parts: DrainDeps;
  #isDraining = false;

  constructor(parts: DrainDeps) {
    this.#parts = parts;
  }

  /** Whether the node is to be told apart as not ready. */
  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** For SIGTERM and SIGINT: who presses a key waits for nobody to look away. */
  readonly signalled = (signal?: NodeJS.Signals): void => {
    const { drainMs, exit, lameDuckMs = 0 } = this.#parts;
    if (this.#isDraining) exit(interrupted);
    else void this.#leave(signal === 'SIGTERM' ? Math.min(lameDuckMs, drainMs) : 0);
  };

  async #leave(lameDuckMs: number): Promise<void> {
    const { clock, connections, drainMs, log } = this.#parts;
    this.#isDraining = true;
    connections.closeBehindAnswers();
    if (lameDuckMs > 0) {
      log.info('not ready any more, calls are taken a moment longer', { lame_duck_ms: lameDuckMs });
      await clock.sleep(lameDuckMs, new AbortController().signal);
    }
    await this.#stop(drainMs - lameDuckMs);
  }

  async #stop(drainMs: number): Promise<void> {
    const { calls, closing, exit, log, server } = this.#parts;
    log.info('stopping', { open_calls: calls.size, drain_ms: drainMs });
    const isIdle = Promise.all([calls.close(), this.#closeServer()]).then(() => true);
    if (!(await this.#within(drainMs, isIdle))) {
      log.warn('stopping: the time is over, open calls are ended', { open_calls: calls.size });
      calls.abort(
        new ParleyError('shutting_down', 'This node is stopping and could wait no longer; send the request again.', {
          retryAfterSeconds: 1,
        }),
      );
      await this.#within(lastWordsMs, isIdle);
    }
    server.closeAllConnections();
    log.info('stopped', { open_calls: calls.size });
    const isClosed = await this.#within(closeMs, closeInOrder(closing, log));
    if (!isClosed) log.error('stopped, but not everything could be closed', undefined);
    exit(isClosed ? 0 : 1);
  }

  /** Resolves when the last connection is closed; those that become idle are closed as they do. */
  #closeServer(): Promise<void> {
    const { server } = this.#parts;
    return new Promise((resolve) => {
      const sweep = setInterval(() => server.closeIdleConnections(), sweepMs);
      server.close(() => {
        clearInterval(sweep);
        resolve();
      });
    });
  }

  /** What a promise gives in time, else false. */
  async #within(ms: number, promise: Promise<boolean>): Promise<boolean> {
    const stop = new AbortController();
    const late = this.#parts.clock.sleep(ms, stop.signal).then(
      () => false,
      () => false,
    );
    const isInTime = await Promise.race([promise, late]);
    stop.abort();
    return isInTime;
  }
}
