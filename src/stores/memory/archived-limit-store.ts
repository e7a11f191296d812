import type { Clock } from '#base/time/clock.ts';
import type {
  Counter,
  CounterArchive,
  CounterState,
  LeasedClaims,
  LimitStore,
  RequestedClaim,
  ReserveOutcome,
} from '#domain/limits/limit-store.ts';
import { MemoryLimitStore } from './limit-store.ts';

export interface ArchivedLimitStoreDeps {
  readonly archive: CounterArchive;
  readonly clock: Clock;
  readonly reportError: (message: string, error: unknown) => void;
  readonly note: (message: string) => void;
}

/** Delay before a changed counter is saved. A killed process loses the usage of this delay and of one write. */
const saveDelayMs = 400;
const restoreRetryMs = 1000;

/**
 * Counts in memory and writes changed counters to the database shortly afterward, so that limits hold across restarts. A node
 * whose database is unavailable at startup is not ready. It counts from 0 until `restore` has added the stored counters.
 */
export class ArchivedLimitStore implements LimitStore {
  readonly #deps: ArchivedLimitStoreDeps;
  readonly #memory = new MemoryLimitStore(() => this.#saveLater());
  #isRestored = false;
  #isClosed = false;
  #isFailing = false;
  #timer: NodeJS.Timeout | undefined;
  #saving: Promise<void> | undefined;

  constructor(deps: ArchivedLimitStoreDeps) {
    this.#deps = deps;
  }

  reserve(counters: readonly Counter[], claims: readonly RequestedClaim[]): ReserveOutcome {
    return this.#memory.reserve(counters, claims);
  }

  settle(counters: readonly Counter[], leasedClaims: LeasedClaims): readonly number[] {
    return this.#memory.settle(counters, leasedClaims);
  }

  /** Reads the stored counters. Resolves after the first attempt. A failed attempt is repeated every second. */
  async restore(): Promise<void> {
    const { archive, clock, reportError } = this.#deps;
    try {
      this.#memory.restore(await archive.load(clock.epochMs()));
      this.#isRestored = true;
      this.#saveLater();
    } catch (error) {
      reportError('the limit counters cannot be read from the database. The node retries every second', error);
      if (!this.#isClosed) setTimeout(() => void this.restore(), restoreRetryMs).unref();
    }
  }

  /** Writes the counters that are not saved yet. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#saving;
    await this.#save();
  }

  // Nothing is saved before the counters are restored, because this node's own usage is unknown until then.
  #saveLater(): void {
    if (!this.#isRestored || this.#isClosed) return;
    this.#timer ??= setTimeout(() => {
      this.#saving = this.#save();
    }, saveDelayMs).unref();
  }

  async #save(): Promise<void> {
    const changes = this.#isRestored ? this.#memory.consumeChanges() : [];
    if (changes.length > 0) await this.#write(changes);
    this.#timer = undefined;
    if (this.#memory.hasChanges) this.#saveLater();
  }

  async #write(changes: readonly CounterState[]): Promise<void> {
    const { archive, clock, note, reportError } = this.#deps;
    try {
      await archive.save(changes, clock.epochMs());
      if (this.#isFailing) note('the limit counters are saved again');
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing)
        reportError('the limit counters cannot be saved. A restart loses the usage since the last save', error);
      this.#isFailing = true;
      this.#memory.markChanged(changes);
    }
  }
}
