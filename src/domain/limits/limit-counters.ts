import type { Clock } from '#base/time/clock.ts';
import type { LimitStatus } from './limit-refusal.ts';
import type { AskedClaim, Claim, Counter, LimitStore, MadeClaims } from './limit-store.ts';
import type { Limit } from './limits.ts';
import { Calendar, type Window } from './windows.ts';

/** The limits of a subject on a deployment, and the names that its counters go by. */
export interface Account {
  readonly limits: readonly Limit[];
  readonly subject: string;
  readonly subjectOnDeployment: string;
}

/** Amounts by kind. */
type Amounts = Readonly<Record<Window['kind'], number>>;

/** What a call has used, or may come to use. */
export type CallAmounts = Omit<Amounts, 'requests'>;

/** What is known of a call that asks to be let in. */
export interface Entry {
  readonly estimate: CallAmounts;
  /** What is reserved for the calls of whose chain it is a part. */
  readonly held: readonly Claim[];
  /** False once its caller has left. */
  readonly isWanted: () => boolean;
}

/** How the limits of an account stood, in their order, and what was reserved for a call, if they let it in. */
export interface Taken {
  readonly statuses: readonly LimitStatus[];
  readonly made: MadeClaims;
}

/** An estimate is not a finite number of at least 0. Admitting the call would break the limits of its caller, so it is rejected. */
export class InvalidAmountError extends Error {
  override readonly name = 'InvalidAmountError';
}

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
  readonly #waiting: WaitingCalls<Taken>;

  constructor(store: LimitStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
    this.#waiting = new WaitingCalls(clock);
  }

  /**
   * Counts one request and reserves what it may come to use, unless one of the limits is used up. If nothing but what is
   * reserved for others stands in the way, it waits a while for them to end. Throws `InvalidAmountError`.
   */
  async take(account: Account, entry: Entry): Promise<Taken> {
    const claims = toClaims(account, entry);
    const attempt = () => this.#reserve(account, oneRequest, claims);
    const first = await attempt();
    if (!isHeldUp(first)) return first;
    return this.#waiting.wait(account.subjectOnDeployment, { first, attempt, isHeldUp, isWanted: entry.isWanted });
  }

  async read(account: Account): Promise<readonly LimitStatus[]> {
    const { statuses } = await this.#reserve(account, nothing, toClaims(account, { estimate: nothing, held: [] }));
    return statuses;
  }

  /** Adds what a call has used, however much is left, and gives back what was reserved for it. */
  async settle(account: Account, { claims, lease }: MadeClaims, used: CallAmounts): Promise<void> {
    const counters = this.#counters(account, { ...used, requests: 0 }).filter(({ amount }) => amount > 0);
    const held = claims.filter(({ amount }) => amount > 0);
    if (counters.length === 0 && held.length === 0) return;
    await this.#store.settle(counters, { claims: held, lease });
    this.#waiting.wake(account.subjectOnDeployment);
  }

  async #reserve(account: Account, amounts: Amounts, claims: readonly AskedClaim[]): Promise<Taken> {
    const counters = this.#counters(account, amounts);
    const { used, reserved, lease } = await this.#store.reserve(counters, claims);
    const statuses = counters.map(({ window, total, endsAtMs }, at): LimitStatus => {
      const claim = claims.findIndex(({ kind }) => kind === window.kind);
      return { window, total, used: used[at] ?? 0, reserved: reserved[claim] ?? 0, resetsAtMs: endsAtMs };
    });
    return { statuses, made: { claims, lease } };
  }

  #counters({ limits, subject, subjectOnDeployment }: Account, amounts: Amounts): Counter[] {
    const ends = this.#calendar.endsAt(this.#clock.epochMs());
    return limits.map(({ window, total }) => ({
      window,
      holder: window.kind === 'cost' ? subject : subjectOnDeployment,
      endsAtMs: ends[window.period],
      total,
      amount: Math.min(amounts[window.kind], Number.MAX_SAFE_INTEGER),
    }));
  }
}

/** For each kind that a limit bounds. */
function toClaims(
  { limits, subject, subjectOnDeployment }: Account,
  { estimate, held }: Pick<Entry, 'estimate' | 'held'>,
): readonly AskedClaim[] {
  const claims: AskedClaim[] = [];
  for (const kind of ['tokens', 'cost'] as const) {
    if (!limits.some(({ window }) => window.kind === kind)) continue;
    const holder = kind === 'cost' ? subject : subjectOnDeployment;
    let exempt = 0;
    for (const claim of held) if (claim.kind === kind && claim.holder === holder) exempt += claim.amount;
    claims.push({ kind, holder, amount: Math.min(requireAmount(estimate[kind]), Number.MAX_SAFE_INTEGER), exempt });
  }
  return claims;
}

function requireAmount(amount: number): number {
  if (Number.isFinite(amount) && amount >= 0) return amount;
  throw new InvalidAmountError(`An estimate must be a finite number of at least 0, but is ${amount}`);
}

/** Whether only what is reserved stands in the way. */
function isHeldUp({ statuses }: Taken): boolean {
  let isHeld = false;
  for (const { used, reserved, total } of statuses) {
    if (used >= total) return false;
    if (used + reserved >= total) isHeld = true;
  }
  return isHeld;
}

/** How long a call waits for others to end. */
const patienceMs = 5_000;
/** What ends on other nodes, or on other deployments, is not told here. */
const pollMs = 200;
/** More of one line are refused at once. */
const mostInLine = 1_000;

/** A call that is held up by others of its caller. */
interface HeldUpCall<Outcome> {
  /** What its first attempt gave. */
  readonly first: Outcome;
  readonly attempt: () => Promise<Outcome>;
  /** Whether it has to wait on. */
  readonly isHeldUp: (outcome: Outcome) => boolean;
  /** False once its caller has left. */
  readonly isWanted: () => boolean;
}

interface Waiter<Outcome> extends HeldUpCall<Outcome> {
  readonly untilMs: number;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (thrown: unknown) => void;
}

interface Line<Outcome> {
  readonly waiters: Waiter<Outcome>[];
  /** Ends the pause between attempts. */
  wake: AbortController;
}

/** Calls that wait for others of the same line to end, first come, first served: one attempt at a time for a line. */
export class WaitingCalls<Outcome> {
  readonly #clock: Clock;
  readonly #lines = new Map<string, Line<Outcome>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Gives the first outcome that does not hold it up, or the last one when it has waited long enough. */
  wait(name: string, call: HeldUpCall<Outcome>): Promise<Outcome> {
    const known = this.#lines.get(name);
    const line = known ?? { waiters: [], wake: new AbortController() };
    if (line.waiters.length >= mostInLine) return Promise.resolve(call.first);
    const waiting = new Promise<Outcome>((resolve, reject) => {
      line.waiters.push({ ...call, untilMs: this.#clock.nowMs() + patienceMs, resolve, reject });
    });
    if (known === undefined) {
      this.#lines.set(name, line);
      void this.#serve(name, line);
    }
    return waiting;
  }

  /** Called when a call of the line has ended. */
  wake(name: string): void {
    this.#lines.get(name)?.wake.abort();
  }

  async #serve(name: string, line: Line<Outcome>): Promise<void> {
    while (line.waiters.length > 0) {
      await this.#clock.sleep(pollMs, line.wake.signal).catch(() => undefined);
      line.wake = new AbortController();
      while (await this.#serveFirst(line));
    }
    this.#lines.delete(name);
  }

  /** Whether the first one left the line. */
  async #serveFirst({ waiters }: Line<Outcome>): Promise<boolean> {
    const [first] = waiters;
    if (first === undefined) return false;
    try {
      const outcome = first.isWanted() ? await first.attempt() : first.first;
      if (first.isWanted() && first.isHeldUp(outcome) && this.#clock.nowMs() < first.untilMs) return false;
      first.resolve(outcome);
    } catch (thrown) {
      first.reject(thrown);
    }
    waiters.shift();
    return true;
  }
}
