import type { Clock } from '#base/clock.ts';
import type { LimitStatus } from './limit-refusal.ts';
import type { Counter, LimitStore } from './limit-store.ts';
import type { Limit } from './limits.ts';
import { Calendar, type Window } from './windows.ts';

/** The limits of a subject on a deployment, and the names that its counters go by. */
export interface Account {
  readonly limits: readonly Limit[];
  readonly subject: string;
  readonly subjectOnDeployment: string;
}

/** What is added, by kind. */
type Amounts = Readonly<Record<Window['kind'], number>>;

/** Of the limits of an account, in their order. */
type LimitStatuses = readonly LimitStatus[];

const oneRequest: Amounts = { requests: 1, tokens: 0, cost: 0 };
const nothing: Amounts = { requests: 0, tokens: 0, cost: 0 };

/** Tokens and requests are counted by deployment, money over all. */
export function toAccount(subject: string, deployment: string, limits: readonly Limit[]): Account {
  // No id of a deployment holds a line break: whatever the subject is, names cannot coincide.
  return { limits, subject, subjectOnDeployment: `${deployment}\n${subject}` };
}

/** Counts what callers use of their limits, in the period that is now. What the store throws comes through. */
export class LimitCounters {
  readonly #store: LimitStore;
  readonly #clock: Clock;
  readonly #calendar = new Calendar();

  constructor(store: LimitStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Counts one request, unless one of the limits is used up; gives how they stood before. */
  take(account: Account): Promise<LimitStatuses> {
    return this.#count(account, oneRequest);
  }

  read(account: Account): Promise<LimitStatuses> {
    return this.#count(account, nothing);
  }

  /** Adds what a call has used, however much is left. */
  async charge(account: Account, used: Omit<Amounts, 'requests'>): Promise<void> {
    const counters = this.#counters(account, { ...used, requests: 0 }).filter(({ amount }) => amount > 0);
    if (counters.length === 0) return;
    await this.#store.count(counters.map((counter) => ({ ...counter, total: Number.POSITIVE_INFINITY })));
  }

  async #count(account: Account, amounts: Amounts): Promise<LimitStatuses> {
    const counters = this.#counters(account, amounts);
    const used = await this.#store.count(counters);
    return counters.map(({ window, total, endsAtMs }, at) => ({ window, total, used: used[at] ?? 0, resetsAtMs: endsAtMs }));
  }

  #counters({ limits, subject, subjectOnDeployment }: Account, amounts: Amounts): Counter[] {
    const ends = this.#calendar.endsAt(this.#clock.epochMs());
    return limits.map(({ window, total }) => ({
      window,
      holder: window.kind === 'cost' ? subject : subjectOnDeployment,
      endsAtMs: ends[window.period],
      total,
      amount: amounts[window.kind],
    }));
  }
}
