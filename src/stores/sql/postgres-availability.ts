import { DatabaseError } from 'pg';
import { NewerDatabase } from './migrate.ts';
import type { AvailabilityMonitor } from './sql-database.ts';

const whilePresentMs = 10_000;
const whileAwayMs = 1_000;
/** Of SQLSTATE, by class: connections that break, too many of them, a server that starts or stops. All else it refuses for good. */
const passing = /^(08|53|57P)/;

export interface AvailabilityMonitorDeps {
  readonly makeTables: () => Promise<unknown>;
  /** Asks the least there is to ask, within a time limit. */
  readonly look: () => Promise<unknown>;
  /** Called once for each outage, and again if the database is back and refuses this node for good. */
  readonly noteAway: (thrown: unknown) => void;
  readonly noteBack: () => void;
}

/** Looks for a PostgreSQL from time to time, and at once where a step failed. */
export class PostgresAvailabilityMonitor implements AvailabilityMonitor {
  readonly #deps: AvailabilityMonitorDeps;
  readonly #reached = Promise.withResolvers<void>();
  #hasTables = false;
  #isAway = true;
  #timer: NodeJS.Timeout | undefined;
  #isLooking = false;
  #isRefused = false;
  #isStopped = false;

  constructor(deps: AvailabilityMonitorDeps) {
    this.#deps = deps;
  }

  get isAway(): boolean {
    return this.#isAway;
  }

  /** Resolves once it was there, and has its tables. */
  get reached(): Promise<void> {
    return this.#reached.promise;
  }

  /** Looks for the first time. Throws what the server refuses for good. */
  async start(): Promise<void> {
    try {
      await this.#reach();
    } catch (thrown) {
      if (isRefusal(thrown)) throw thrown;
      this.#deps.noteAway(thrown);
    }
    this.#lookLater();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#isStopped = true;
  }

  readonly doubt = (): void => void this.#look();

  async #look(): Promise<void> {
    if (this.#isLooking || this.#isStopped) return;
    this.#isLooking = true;
    clearTimeout(this.#timer);
    const [wasAway, wasRefused] = [this.#isAway, this.#isRefused];
    try {
      await this.#reach();
      if (wasAway) this.#deps.noteBack();
    } catch (thrown) {
      this.#isAway = true;
      this.#isRefused = isRefusal(thrown);
      if (!wasAway || (this.#isRefused && !wasRefused)) this.#deps.noteAway(thrown);
    }
    this.#isLooking = false;
    this.#lookLater();
  }

  async #reach(): Promise<void> {
    if (!this.#hasTables) await this.#deps.makeTables();
    else await this.#deps.look();
    this.#hasTables = true;
    this.#isAway = false;
    this.#isRefused = false;
    this.#reached.resolve();
  }

  #lookLater(): void {
    if (!this.#isStopped) this.#timer = setTimeout(this.doubt, this.#isAway ? whileAwayMs : whilePresentMs).unref();
  }
}

/** What trying again hardly mends: a wrong password, a database that is not there or of a later version, an address that is none. */
function isRefusal(thrown: unknown): boolean {
  if (thrown instanceof DatabaseError) return !passing.test(thrown.code ?? '');
  return thrown instanceof NewerDatabase || thrown instanceof TypeError;
}
