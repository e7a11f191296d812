import { raceAbort } from '#base/stream/race-abort.ts';
import type { Clock } from '#base/time/clock.ts';
import { Connection, type ConnectionOptions } from './connection.ts';
import type { Revisions } from './server-caches.ts';
import { getServerMessage } from './server-error.ts';

export interface SessionOptions extends Omit<ConnectionOptions, 'revision' | 'isBusy' | 'onToolsChanged'> {
  readonly revisions: Revisions;
  readonly clock: Clock;
  /** Milliseconds without use after which it is closed. */
  readonly idleMs: number;
  readonly onIdle: () => void;
}

/** The connection of one user to one server, opened when it is needed and again when it was lost. */
export class Session {
  readonly #options: SessionOptions;
  #opening: Promise<Connection> | undefined;
  /** What the opening came to. */
  #connection: Connection | undefined;
  #uses = 0;
  #isClosed = false;
  #idleTimer = new AbortController();
  #listChanges = 0;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#startIdleTimer();
  }

  /** How often the server said that its tools are others now. */
  get listChanges(): number {
    return this.#listChanges;
  }

  get isBusy(): boolean {
    return this.#uses > 0;
  }

  /** Rejects with the signal's reason, with ToolFault if there is no connection, or with what `work` throws. */
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

  /** A session that the server forgot is opened anew, once: what it refused it did not do. */
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
        this.#listChanges += 1;
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

  /** The next use opens another; what others still do with this one goes on. */
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
