import { FreshRead, Recurring } from '#base/time/recurring.ts';
import { type BlockedUserStore, userBlocked } from '#domain/callers/blocked-users.ts';
import type { Caller } from '#domain/callers/caller.ts';

export interface BlockedUsersDeps {
  readonly store: BlockedUserStore;
  /** Whether other nodes write to the store too. */
  readonly isShared: boolean;
  /** Called with errors that fail no call. */
  readonly reportError: (message: string, error: unknown) => void;
}

/** How often a node reads what other nodes wrote. A block is in force on all nodes within a second. */
const readEveryMs = 300;
/** How often calls are checked that started while a block was written. */
const sweepEveryMs = 1_000;

/**
 * The blocked users, all of them in memory, so that a check asks no store. While the store is away, the last list stays in force.
 * Callers wait for the first read after the start. If it fails, all are admitted until a read succeeds, which ends the calls of blocked users.
 */
export class BlockedUsers {
  readonly #deps: BlockedUsersDeps;
  readonly #recurring: Recurring;
  readonly #freshRead = new FreshRead(() => this.#read());
  /** Undefined once the first read has ended, also if it failed. */
  #firstRead: Promise<void> | undefined;
  #users: ReadonlySet<string> = new Set();
  #revision = -1;
  #onChange: () => void = () => undefined;

  constructor(deps: BlockedUsersDeps) {
    this.#deps = deps;
    this.#recurring = new Recurring(deps.reportError);
    this.#firstRead = this.#freshRead
      .run()
      .catch(() => undefined)
      .finally(() => {
        this.#firstRead = undefined;
      });
    this.#recurring.every(readEveryMs, 'Parley cannot read the blocked users. The last list stays in force', () =>
      this.#refresh(),
    );
    this.#recurring.every(sweepEveryMs, 'Parley could not end the calls of blocked users', async () => {
      if (this.#users.size > 0) this.#onChange();
    });
  }

  /** Registers the one listener, which ends calls of callers that are blocked (`has`). */
  onChange(listener: () => void): void {
    this.#onChange = listener;
  }

  has({ subject }: Pick<Caller, 'subject'>): boolean {
    return this.#users.has(subject);
  }

  /** Returns the caller. Throws `user_blocked`. */
  admit(caller: Caller): Caller | Promise<Caller> {
    if (this.#firstRead !== undefined) return this.#firstRead.then(() => this.admit(caller));
    if (this.has(caller)) throw userBlocked();
    return caller;
  }

  /** Writes to the store. Resolves after this node has read the result, or has scheduled a read, also if the write fails. */
  write<Value>(write: () => Promise<Value>): Promise<Value> {
    return this.#freshRead.write(write);
  }

  close(): void {
    this.#recurring.close();
  }

  async #refresh(): Promise<void> {
    if (this.#deps.isShared || this.#freshRead.isBehind) await this.#freshRead.run();
  }

  async #read(): Promise<void> {
    const { revision, users } = await this.#deps.store.changes(this.#revision);
    this.#revision = revision;
    if (users === undefined) return;
    this.#users = new Set(users);
    this.#onChange();
  }
}
