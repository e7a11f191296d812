import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Clock } from '#base/time/clock.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import type { Log } from '#telemetry/log.ts';

/** How Node tells of requests, by their `Expect`. */
const requests = ['request', 'checkContinue', 'checkExpectation'] as const;
const openWhileStopping = /^\/(health|ready|metrics)$/;

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

interface DrainDeps {
  readonly server: StoppableServer;
  readonly connections: Pick<TrackedConnections, 'closeBehindAnswers'>;
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
const abortGraceMs = 500;
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
    else void this.#drain(signal === 'SIGTERM' ? Math.min(lameDuckMs, drainMs) : 0);
  };

  async #drain(lameDuckMs: number): Promise<void> {
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
      await this.#within(abortGraceMs, isIdle);
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

export interface Closable {
  close(): unknown;
}

/** Stages: what is in one may need what is in later ones until it is closed. */
export type Closing = readonly (readonly Closable[])[];

/**
 * Closes stage after stage, what is in one side by side. What fails is told in the log and keeps nothing else from being
 * closed. Gives whether all of it could be.
 */
export async function closeInOrder(stages: Closing, log: Log): Promise<boolean> {
  let areClosed = true;
  for (const stage of stages) {
    const outcomes = await Promise.allSettled(stage.map(async (closable) => closable.close()));
    for (const outcome of outcomes) {
      if (outcome.status === 'fulfilled') continue;
      areClosed = false;
      log.error('stopping: something could not be closed', outcome.reason);
    }
  }
  return areClosed;
}

/** The connections of a server, of which each answer of a node that stops says that it is the last: clients do not send on one that is about to close. */
export class TrackedConnections {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  /** `server` must not listen yet. */
  constructor(server: Server) {
    this.#server = server;
    const track = (socket: Socket): void => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    };
    server.on('connection', track);
    server.on('secureConnection', track);
  }

  /** From now on each connection closes behind its next answer; answers under way are included if their head has not gone out. */
  closeBehindAnswers(): void {
    for (const event of requests) {
      if (this.#server.listenerCount(event) === 0) continue;
      this.#server.prependListener(event, (_request: unknown, response: ServerResponse) => {
        response.shouldKeepAlive = false;
      });
    }
    for (const socket of this.#sockets) {
      const response = getCurrentAnswer(socket);
      if (response?.headersSent === false) response.shouldKeepAlive = false;
    }
  }
}

/** Node keeps it there, and tells of it nowhere else. */
function getCurrentAnswer(socket: Socket): Partial<Pick<ServerResponse, 'headersSent' | 'shouldKeepAlive'>> | undefined {
  return Reflect.get(socket, '_httpMessage') ?? undefined;
}

/**
 * While the node stops, requests on open connections get 503 `shutting_down` and the connection closes. For the routes
 * registered after it; those with `config.isMeasured` refuse calls themselves.
 */
export function refuseWhileDraining(app: FastifyInstance, isDraining: () => boolean): void {
  app.addHook('onRoute', (route) => {
    if ((route.config as { isMeasured?: boolean } | undefined)?.isMeasured) return;
    const before = route.onRequest === undefined ? [] : [route.onRequest].flat();
    const refuses = !openWhileStopping.test(route.url);
    route.onRequest = [
      async (_request, reply) => {
        if (!isDraining()) return;
        reply.header('connection', 'close');
        if (refuses)
          throw new ParleyError('shutting_down', 'This node is stopping; send the request again.', { retryAfterSeconds: 1 });
      },
      ...before,
    ];
  });
}
