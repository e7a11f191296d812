import type { AvailabilityMonitor } from './sql-database.ts';

const whileRefusedMs = 1_000;

export interface SqliteHearing {
  /** Called once for each outage of writing. */
  readonly noteRefused: (thrown: unknown) => void;
  readonly noteBack: () => void;
}

/**
 * Tries to write where a step failed, and again every second until it can: a disk is full, or was taken away. Steps are not
 * held up meanwhile, since what only reads still works.
 */
export class SqliteAvailabilityMonitor implements AvailabilityMonitor {
  readonly isAway = false;
  readonly #tryWrite: () => Promise<unknown>;
  readonly #hearing: SqliteHearing;
  #takesWrites = true;
  #isTrying = false;
  #isStopped = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(tryWrite: () => Promise<unknown>, hearing: SqliteHearing) {
    this.#tryWrite = tryWrite;
    this.#hearing = hearing;
  }

  get takesWrites(): boolean {
    return this.#takesWrites;
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#isStopped = true;
  }

  readonly doubt = (): void => void this.#try();

  async #try(): Promise<void> {
    if (this.#isTrying || this.#isStopped) return;
    this.#isTrying = true;
    clearTimeout(this.#timer);
    const tookWrites = this.#takesWrites;
    try {
      await this.#tryWrite();
      this.#takesWrites = true;
      if (!tookWrites) this.#hearing.noteBack();
    } catch (thrown) {
      this.#takesWrites = false;
      if (tookWrites) this.#hearing.noteRefused(thrown);
    }
    this.#isTrying = false;
    if (!this.#takesWrites && !this.#isStopped) this.#timer = setTimeout(this.doubt, whileRefusedMs).unref();
  }
}
