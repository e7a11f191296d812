import { raceAbort } from '#base/stream/race-abort.ts';
import type { Clock } from '#base/time/clock.ts';
import { Connection, type ConnectionOptions } from './connection.ts';
import type { Revisions } from './server-caches.ts';
import { getServerMessage } from './server-error.ts';

export interface SessionOptions extends Omit<ConnectionOptions, 'revision' | 'isBusy'> {
  readonly revisions: Revisions;
  readonly clock: Clock;
  /** Number of idle milliseconds after which `onIdle` is called. */
  readonly idleMs: number;
  readonly onIdle: () => void;
}

/** A connection that is being opened or is open, and the number of its current uses. */
interface SharedConnection {
  readonly connection: Promise<Connection>;
  uses: number;
}

/** The connection of one user to one server. Opens when needed, and reopens after a failure. */
export class Session {
  readonly #options: SessionOptions;
  /** The connection for the next use. */
  #current: SharedConnection | undefined;
  /** The current connection, and dropped ones that still have uses. */
  readonly #connections = new Set<SharedConnection>();
  #uses = 0;
  #isClosed = false;
  #idleTimer = new AbortController();

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#startIdleTimer();
  }

  get isBusy(): boolean {
    return this.#uses > 0;
  }

  /** Rejects with the reason of the signal, with `ToolError` if no connection is available, or with the error of `work`. */
  async use<Value>(signal: AbortSignal, work: (connection: Connection) => Promise<Value>): Promise<Value> {
    this.#uses += 1;
    this.#idleTimer.abort();
    try {
      return await this.#runWithRetry(signal, work);
    } finally {
      this.#uses -= 1;
      if (!this.isBusy && !this.#isClosed) this.#startIdleTimer();
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#idleTimer.abort();
    const current = this.#current;
    this.#current = undefined;
    const closeShared = async (shared: SharedConnection): Promise<void> => {
      const connection = await shared.connection.catch(() => undefined);
      await (shared === current ? connection?.close() : connection?.client.close());
    };
    await Promise.all([...this.#connections].map(closeShared));
  }

  /**
   * Reopens a session once if the server no longer knows it. The server did not execute the rejected request, so a retry is
   * safe.
   */
  async #runWithRetry<Value>(signal: AbortSignal, work: (connection: Connection) => Promise<Value>): Promise<Value> {
    for (let attempt = 1; ; attempt += 1) {
      this.#current ??= this.#connect();
      const shared = this.#current;
      shared.uses += 1;
      try {
        const connection = await raceAbort(shared.connection, signal);
        try {
          return await raceAbort(work(connection), AbortSignal.any([signal, connection.endSignal]));
        } catch (error) {
          signal.throwIfAborted();
          const hasExpired = connection.hasExpired(error);
          if (hasExpired || (connection.isStateless && getServerMessage(error) === undefined)) this.#forget(shared, connection);
          if (!hasExpired || attempt === 2) throw error;
        }
      } finally {
        shared.uses -= 1;
        this.#closeUnused(shared);
      }
    }
  }

  #connect(): SharedConnection {
    const { revisions, settings } = this.#options;
    const revision = revisions.find(settings);
    const connection = Connection.open({ ...this.#options, revision, isBusy: () => this.isBusy });
    const shared: SharedConnection = { connection, uses: 0 };
    this.#connections.add(shared);
    connection.then(
      (opened) => {
        revisions.put(settings, opened.revision);
        opened.endSignal.addEventListener('abort', () => this.#forget(shared, opened), { once: true });
        if (opened.endSignal.aborted) this.#forget(shared, opened);
      },
      () => {
        revisions.forget(settings);
        this.#connections.delete(shared);
        if (this.#current === shared) this.#current = undefined;
      },
    );
    return shared;
  }

  /** Drops a connection. The next use opens another one, and running uses continue. */
  #forget(shared: SharedConnection, { isStateless }: Connection): void {
    if (this.#current !== shared) return;
    this.#current = undefined;
    if (isStateless) this.#options.revisions.forget(this.#options.settings);
    this.#closeUnused(shared);
  }

  /** Closes a dropped connection after its last use. The server no longer knows its session. */
  #closeUnused(shared: SharedConnection): void {
    if (shared.uses > 0 || (shared === this.#current && !this.#isClosed) || !this.#connections.delete(shared)) return;
    shared.connection.then(({ client }) => client.close()).catch(() => undefined);
  }

  #startIdleTimer(): void {
    const idleTimer = new AbortController();
    this.#idleTimer = idleTimer;
    const { clock, idleMs, onIdle } = this.#options;
    clock.sleep(idleMs, idleTimer.signal).then(onIdle, () => undefined);
  }
}
