import { raceAbort } from '#base/stream/race-abort.ts';
import type { Clock } from '#base/time/clock.ts';
import { Connection, type ConnectionOptions } from './connection.ts';
import type { Revisions } from './server-caches.ts';
import { getServerMessage } from './server-error.ts';

export interface SessionOptions extends Omit<ConnectionOptions, 'revision' | 'isBusy' | 'onToolsChanged'> {
  readonly revisions: Revisions;
  readonly clock: Clock;
  /** Number of idle milliseconds after which `onIdle` is called. */
  readonly idleMs: number;
  readonly onIdle: () => void;
}

/** The connection of one user to one server. Opens when needed, and reopens after a failure. */
export class Session {
  readonly #options: SessionOptions;
  #opening: Promise<Connection> | undefined;
  /** The connection, after it was opened. */
  #connection: Connection | undefined;
  #uses = 0;
  #isClosed = false;
  #idleTimer = new AbortController();
  #toolChangeCount = 0;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#startIdleTimer();
  }

  /** Number of times that the server reported changed tools. */
  get toolChangeCount(): number {
    return this.#toolChangeCount;
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
    const opening = this.#opening;
    this.#opening = undefined;
    const connection = await opening?.catch(() => undefined);
    await connection?.close();
  }

  /**
   * Reopens a session once if the server no longer knows it. The server did not execute the rejected request, so a retry is
   * safe.
   */
  async #runWithRetry<Value>(signal: AbortSignal, work: (connection: Connection) => Promise<Value>): Promise<Value> {
    for (let attempt = 1; ; attempt += 1) {
      const connection = await raceAbort(this.#open(), signal);
      try {
        return await raceAbort(work(connection), AbortSignal.any([signal, connection.endSignal]));
      } catch (error) {
        signal.throwIfAborted();
        const hasExpired = connection.hasExpired(error);
        if (hasExpired || (connection.isStateless && getServerMessage(error) === undefined)) this.#forget(connection);
        if (!hasExpired || attempt === 2) throw error;
      }
    }
  }

  #open(): Promise<Connection> {
    this.#opening ??= this.#connect();
    return this.#opening;
  }

  #connect(): Promise<Connection> {
    const { revisions, settings } = this.#options;
    const revision = revisions.find(settings);
    const opening = Connection.open({
      ...this.#options,
      revision,
      isBusy: () => this.isBusy,
      onToolsChanged: () => {
        this.#toolChangeCount += 1;
      },
    });
    opening.then(
      (connection) => {
        this.#connection = connection;
        revisions.put(settings, connection.revision);
        connection.endSignal.addEventListener('abort', () => this.#forget(connection), { once: true });
        if (connection.endSignal.aborted) this.#forget(connection);
      },
      () => {
        revisions.forget(settings);
        if (this.#opening === opening) this.#opening = undefined;
      },
    );
    return opening;
  }

  /** Drops a connection. The next use opens another one, and running uses continue. */
  #forget(connection: Connection): void {
    if (this.#connection !== connection) return;
    this.#opening = undefined;
    this.#connection = undefined;
    if (connection.isStateless) this.#options.revisions.forget(this.#options.settings);
  }

  #startIdleTimer(): void {
    const idleTimer = new AbortController();
    this.#idleTimer = idleTimer;
    const { clock, idleMs, onIdle } = this.#options;
    clock.sleep(idleMs, idleTimer.signal).then(onIdle, () => undefined);
  }
}
