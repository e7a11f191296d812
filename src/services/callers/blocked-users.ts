import { RecurringTasks } from '#base/time/recurring-tasks.ts';
import { type BlockedUserStore, createUserBlockedError } from '#domain/callers/blocked-users.ts';
import type { Caller } from '#domain/callers/caller.ts';
import { DataRefresher, type DataRefresherDeps } from '../node/data-refresher.ts';

export interface BlockedUsersDeps extends DataRefresherDeps {
  readonly store: BlockedUserStore;
}

/** Interval of the checks for calls that started while a block was written. */
const sweepIntervalMs = 1_000;

/**
 * Blocked users, all in memory, so that checks do not query the store. While the store is unavailable, the last list stays
 * valid. Callers wait for the first read after the start. If it fails, all callers are admitted until a read succeeds. That read
 * ends the calls of blocked users.
 */
export class BlockedUsers {
  readonly #store: BlockedUserStore;
  readonly #tasks: RecurringTasks;
  readonly #refresher: DataRefresher;
  #users: ReadonlySet<string> = new Set();
  /** Users that provisioning blocked, in lower case. */
  #foldedUsers: ReadonlySet<string> = new Set();
  #revision = -1;
  #onChange: () => void = () => undefined;

  constructor(deps: BlockedUsersDeps) {
    this.#store = deps.store;
    this.#refresher = new DataRefresher(deps, {
      name: 'blocked-users',
      outageMessage: 'could not read the blocked users. The last list stays in effect',
      readData: () => this.#read(),
    });
    this.#tasks = new RecurringTasks(deps.reportError);
    this.#refresher.start();
    this.#tasks.every(sweepIntervalMs, 'could not end the calls of blocked users', async () => {
      if (this.#users.size > 0) this.#onChange();
    });
  }

  /** Sets the only listener. It must end each call if `has` returns true for its caller. */
  onChange(listener: () => void): void {
    this.#onChange = listener;
  }

  has({ subject }: Pick<Caller, 'subject'>): boolean {
    return this.#users.has(subject) || (this.#foldedUsers.size > 0 && this.#foldedUsers.has(subject.toLowerCase()));
  }

  /** Returns the caller. Throws `user_blocked`. */
  admit(caller: Caller): Caller | Promise<Caller> {
    const { firstRead } = this.#refresher;
    if (firstRead !== undefined) return firstRead.then(() => this.admit(caller));
    if (this.has(caller)) throw createUserBlockedError();
    return caller;
  }

  /** Writes to the store. Settles after this node has read the data or scheduled a read. Rejects if the write fails. */
  write<Value>(write: () => Promise<Value>): Promise<Value> {
    return this.#refresher.write(write);
  }

  close(): void {
    this.#tasks.close();
    this.#refresher.close();
  }

  async #read(): Promise<void> {
    const { revision, users, provisioned = [] } = await this.#store.readUpdates(this.#revision);
    this.#revision = revision;
    if (users === undefined) return;
    this.#users = new Set(users);
    this.#foldedUsers = new Set(provisioned.map((user) => user.toLowerCase()));
    this.#onChange();
  }
}
