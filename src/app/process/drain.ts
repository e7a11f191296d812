import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Clock } from '#base/time/clock.ts';
import type { Environment } from '#configuration/substitute.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import type { Log } from '#telemetry/log.ts';

/** Events that Node emits for requests, depending on their `Expect` header. */
const requestEvents = ['request', 'checkContinue', 'checkExpectation'] as const;
const pathsOpenWhileStopping = /^\/(health|ready|metrics)$/;

/** Methods of an HTTP server that a drain needs. */
interface StoppableServer {
  close(closed: () => void): unknown;
  closeIdleConnections(): void;
  closeAllConnections(): void;
}

/** Calls in progress, in the form of `InFlightCalls`. */
interface StoppableCalls {
  readonly size: number;
  /** Rejects new calls. Resolves when the last call has ended. */
  close(): Promise<void>;
  abort(reason: unknown): void;
}

interface DrainDeps {
  readonly server: StoppableServer;
  readonly connections: Pick<TrackedConnections, 'closeAfterResponses'>;
  readonly calls: StoppableCalls;
  readonly clock: Clock;
  readonly log: Log;
  /** Maximum time that open calls may continue (`PARLEY_DRAIN_MS`). */
  readonly drainMs: number;
  /**
   * Part of `drainMs` in which new calls are still accepted after a SIGTERM, so that load balancers notice that the node is not
   * ready (`PARLEY_LAME_DUCK_MS`). The default is 0.
   */
  readonly lameDuckMs?: number;
  /** Other resources to close in stages: listeners, exporters, stores, and the log. */
  readonly closeStages: CloseStages;
  readonly exit: (code: number) => void;
}

const sweepIntervalMs = 100;
/** Time for aborted calls to send their error. */
const abortGraceMs = 500;
/** Time to write pending journal records and to close all other resources. */
const closeTimeoutMs = 5_000;
const interruptedExitCode = 130;

/**
 * Stops a node gracefully. First the node is not ready, and each response closes its connection. After `lameDuckMs`, the node
 * rejects new connections and new calls. Open calls may continue until `drainMs` has passed. Calls that are still open then get
 * `shutting_down` as their last event. A second signal ends the process immediately.
 */
export class Drain {
  readonly #deps: DrainDeps;
  #isDraining = false;

  constructor(deps: DrainDeps) {
    this.#deps = deps;
  }

  /** Whether the node must report that it is not ready. */
  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** Handler for SIGTERM and SIGINT. A SIGINT skips the wait for load balancers, because a person stops the process. */
  readonly handleSignal = (signal?: NodeJS.Signals): void => {
    const { drainMs, exit, lameDuckMs = 0 } = this.#deps;
    if (this.#isDraining) exit(interruptedExitCode);
    else void this.#drain(signal === 'SIGTERM' ? Math.min(lameDuckMs, drainMs) : 0);
  };

  async #drain(lameDuckMs: number): Promise<void> {
    const { clock, connections, drainMs, log } = this.#deps;
    this.#isDraining = true;
    connections.closeAfterResponses();
    if (lameDuckMs > 0) {
      log.info('not ready, still accepting calls', { lame_duck_ms: lameDuckMs });
      await clock.sleep(lameDuckMs, new AbortController().signal);
    }
    await this.#stop(drainMs - lameDuckMs);
  }

  async #stop(drainMs: number): Promise<void> {
    const { calls, closeStages, exit, log, server } = this.#deps;
    log.info('stopping', { open_calls: calls.size, drain_ms: drainMs });
    const whenIdle = Promise.all([calls.close(), this.#closeServer()]).then(() => true);
    if (!(await this.#within(drainMs, whenIdle))) {
      log.warn('stopping: drain time has passed, aborting open calls', { open_calls: calls.size });
      calls.abort(
        new ParleyError('shutting_down', 'This node is stopping and cannot wait longer. Send the request again.', {
          retryAfterSeconds: 1,
        }),
      );
      await this.#within(abortGraceMs, whenIdle);
    }
    server.closeAllConnections();
    log.info('stopped', { open_calls: calls.size });
    const isClosed = await this.#within(closeTimeoutMs, closeInOrder(closeStages, log));
    if (!isClosed) log.error('stopped, but some resources could not be closed', undefined);
    exit(isClosed ? 0 : 1);
  }

  /** Resolves when the last connection is closed. Closes connections when they become idle. */
  #closeServer(): Promise<void> {
    const { server } = this.#deps;
    return new Promise((resolve) => {
      const sweep = setInterval(() => server.closeIdleConnections(), sweepIntervalMs);
      server.close(() => {
        clearInterval(sweep);
        resolve();
      });
    });
  }

  /** Returns the result of `promise`, or false if it does not resolve within `ms`. */
  async #within(ms: number, promise: Promise<boolean>): Promise<boolean> {
    const stop = new AbortController();
    const timeout = this.#deps.clock.sleep(ms, stop.signal).then(
      () => false,
      () => false,
    );
    const result = await Promise.race([promise, timeout]);
    stop.abort();
    return result;
  }
}

/** Resource that a stage closes. */
export interface Resource {
  close(): unknown;
}

/** Stages of resources, in the order of closing. A resource may need resources of later stages until it is closed. */
export type CloseStages = readonly (readonly Resource[])[];

/**
 * Closes the stages one after the other, and the resources of one stage concurrently. Logs each error and continues. Returns
 * whether all resources were closed.
 */
export async function closeInOrder(stages: CloseStages, log: Log): Promise<boolean> {
  let areClosed = true;
  for (const stage of stages) {
    const outcomes = await Promise.allSettled(stage.map(async (resource) => resource.close()));
    for (const outcome of outcomes) {
      if (outcome.status === 'fulfilled') continue;
      areClosed = false;
      log.error('stopping: cannot close a resource', outcome.reason);
    }
  }
  return areClosed;
}

/**
 * Connections of a server. During a drain, each response announces that its connection closes, so that clients do not send
 * another request on it.
 */
export class TrackedConnections {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  /** The server must not listen yet. */
  constructor(server: Server) {
    this.#server = server;
    const track = (socket: Socket): void => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    };
    server.on('connection', track);
    server.on('secureConnection', track);
  }

  /** Makes each connection close after its next response. This includes responses in progress whose headers are not sent yet. */
  closeAfterResponses(): void {
    for (const event of requestEvents) {
      if (this.#server.listenerCount(event) === 0) continue;
      this.#server.prependListener(event, (_request: unknown, response: ServerResponse) => {
        response.shouldKeepAlive = false;
      });
    }
    for (const socket of this.#sockets) {
      const response = getCurrentResponse(socket);
      if (response?.headersSent === false) response.shouldKeepAlive = false;
    }
  }
}

/** Node exposes the current response of a socket only in this internal field. */
function getCurrentResponse(socket: Socket): Partial<Pick<ServerResponse, 'headersSent' | 'shouldKeepAlive'>> | undefined {
  return Reflect.get(socket, '_httpMessage') ?? undefined;
}

/**
 * Adds a hook to routes that are registered later. During a drain, each response closes its connection, and requests get 503
 * `shutting_down`, except for health and metrics. Skips routes with `config.isRaw`, which reject calls themselves.
 */
export function rejectWhileDraining(app: FastifyInstance, isDraining: () => boolean): void {
  app.addHook('onRoute', (route) => {
    if ((route.config as { isRaw?: boolean } | undefined)?.isRaw) return;
    const existingHooks = route.onRequest === undefined ? [] : [route.onRequest].flat();
    const shouldReject = !pathsOpenWhileStopping.test(route.url);
    route.onRequest = [
      async (_request, reply) => {
        if (!isDraining()) return;
        reply.header('connection', 'close');
        if (shouldReject)
          throw new ParleyError('shutting_down', 'This node is stopping. Send the request again.', { retryAfterSeconds: 1 });
      },
      ...existingHooks,
    ];
  });
}

type SignalHandler = (signal: NodeJS.Signals) => void;

const maxEchoMs = 500;

/**
 * Under npm, drops a repeated signal within 500 ms. npm forwards signals to its child, so a signal from the terminal, which both
 * receive, arrives twice.
 */
export function ignoreEchoes(handler: SignalHandler, environment: Environment, clock: Clock): SignalHandler {
  if (environment.npm_lifecycle_event === undefined) return handler;
  const receivedAtMs = new Map<NodeJS.Signals, number>();
  return (signal) => {
    const nowMs = clock.nowMs();
    if (nowMs - (receivedAtMs.get(signal) ?? Number.NEGATIVE_INFINITY) < maxEchoMs) return;
    receivedAtMs.set(signal, nowMs);
    handler(signal);
  };
}
