import { FreshRead, Recurring } from '#base/time/recurring.ts';
import type { NodeBroadcast } from '#domain/node-broadcast.ts';

/** Interval between reads of the changes of other nodes. All changes take effect within a second. */
const refreshIntervalMs = 300;

export interface StoredDataDeps {
  /** Whether other nodes also write to the store. */
  readonly isShared: boolean;
  /** Reaches the other nodes. Undefined if there are none. */
  readonly broadcast?: NodeBroadcast | undefined;
  /** Called with errors that do not fail a call. */
  readonly reportError: (message: string, error: unknown) => void;
}

interface StoredDataOptions {
  readonly name: 'user-keys' | 'blocked-users' | 'group-roles' | 'entries';
  /** Message if the data cannot be read regularly. */
  readonly outageMessage: string;
  readonly readData: () => Promise<void>;
  /** Whether a regular read is due although nothing was written. */
  readonly isDue?: () => boolean;
}

/**
 * Keeps data in the memory of this node current. It is read after each write of this node, when another node announces a write,
 * and regularly if other nodes write to the store too, because a notice can be lost.
 */
export class StoredData {
  readonly #read: FreshRead;
  readonly #recurring: Recurring;
  /** The read that `start` began. Undefined after it has ended, even if it failed. */
  firstRead: Promise<void> | undefined;

  constructor({ isShared, broadcast, reportError }: StoredDataDeps, { name, outageMessage, readData, isDue }: StoredDataOptions) {
    // Between workers of one node, `publish` resolves after the other workers have read the data, so that the next request finds
    // the change in every worker.
    const announce = broadcast && (() => broadcast.publish({ topic: 'stored', text: name }).catch(() => undefined));
    this.#read = new FreshRead(readData, announce);
    this.#recurring = new Recurring(reportError);
    this.#recurring.every(refreshIntervalMs, outageMessage, async () => {
      if (isShared || this.#read.isBehind || isDue?.()) await this.#read.run();
    });
    broadcast?.onNotice(({ topic, text }) => (topic === 'stored' && text === name ? this.#read.run() : undefined));
  }

  /** Starts the first read. Never fails. */
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

  /** Writes to the store. Resolves after this node has read the result or scheduled a read, even if the write fails. */
  write<Value>(write: () => Promise<Value>): Promise<Value> {
    return this.#read.write(write);
  }

  close(): void {
    this.#recurring.close();
  }
}
