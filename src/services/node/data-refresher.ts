import { RecurringTasks } from '#base/time/recurring-tasks.ts';
import type { NodeBroadcast } from '#domain/node-broadcast.ts';

/** Interval of the reads. A notice of a change can be lost, so this limits how late the change takes effect. */
const refreshIntervalMs = 300;

export interface DataRefresherDeps {
  /** Whether other nodes also write to the store. */
  readonly isShared: boolean;
  /** Sends notices to the other nodes and the other workers of this node. Undefined if there are none. */
  readonly broadcast?: NodeBroadcast | undefined;
  /** Called with errors that do not fail a call. */
  readonly reportError: (message: string, error: unknown) => void;
}

interface DataOptions {
  readonly name: 'user-keys' | 'blocked-users' | 'group-roles' | 'entries';
  /** Error message if a periodic read fails. */
  readonly outageMessage: string;
  readonly readData: () => Promise<void>;
  /** Returns whether a periodic read is due although the store is not shared and no read failed. */
  readonly isDue?: () => boolean;
}

/**
 * Keeps data in the memory of this node current. Reads it after each write of this node and after each notice of a write by
 * another node. If other nodes write to the store too, also reads it periodically, because a notice can be lost.
 */
export class DataRefresher {
  readonly #read: FreshRead;
  readonly #tasks: RecurringTasks;
  /** The read that `start` started. Undefined after it has ended, even if it failed. */
  firstRead: Promise<void> | undefined;

  constructor({ isShared, broadcast, reportError }: DataRefresherDeps, { name, outageMessage, readData, isDue }: DataOptions) {
    // Between workers of one node, `publish` resolves after the other workers have read the data. The next request then finds the
    // change in every worker, unless a read failed or took too long.
    const announce = broadcast && (() => broadcast.publish({ topic: 'stored', text: name }).catch(() => undefined));
    this.#read = new FreshRead(readData, announce);
    this.#tasks = new RecurringTasks(reportError);
    this.#tasks.every(refreshIntervalMs, outageMessage, async () => {
      if (isShared || this.#read.isBehind || isDue?.()) await this.#read.run();
    });
    broadcast?.onNotice(({ topic, text }) => (topic === 'stored' && text === name ? this.#read.run() : undefined));
  }

  /** Starts the first read. */
  start(): void {
    this.firstRead = this.load()
      .catch(() => undefined)
      .finally(() => {
        this.firstRead = undefined;
      });
  }

  /** Reads the data. The read starts after the call. */
  load(): Promise<void> {
    return this.#read.run();
  }

  /** Writes to the store. Settles after this node has read the data or scheduled a read. Rejects if the write fails. */
  write<Value>(write: () => Promise<Value>): Promise<Value> {
    return this.#read.write(write);
  }

  close(): void {
    this.#tasks.close();
  }
}

/** Reads that never overlap. Each call to `run` gets a read that starts after the call, so that the read sees earlier writes. */
export class FreshRead {
  readonly #read: () => Promise<void>;
  readonly #announce: (() => Promise<void>) | undefined;
  #current: Promise<void> = Promise.resolve();
  /** The read that starts after the current one. The current read may have missed a write. */
  #next: Promise<void> | undefined;
  /** Whether the last read failed, or a write has started after the last read. */
  isBehind = false;

  /** `announce` is called after each write, for readers in other processes. It must not reject. */
  constructor(readData: () => Promise<void>, announce?: () => Promise<void>) {
    this.#read = readData;
    this.#announce = announce;
  }

  run(): Promise<void> {
    this.#next ??= this.#current
      .catch(() => undefined)
      .then(() => {
        this.#next = undefined;
        this.#current = this.#readOnce();
        return this.#current;
      });
    return this.#next;
  }

  /**
   * Runs a write. Then reads and announces, even if the write failed, because a failed write may still have taken effect. Rejects
   * only with the error of the write. If the read fails, `isBehind` is true.
   */
  async write<Value>(write: () => Promise<Value>): Promise<Value> {
    this.isBehind = true;
    try {
      return await write();
    } finally {
      await this.run().catch(() => undefined);
      await this.#announce?.();
    }
  }

  async #readOnce(): Promise<void> {
    this.isBehind = false;
    try {
      await this.#read();
    } catch (error) {
      this.isBehind = true;
      throw error;
    }
  }
}
