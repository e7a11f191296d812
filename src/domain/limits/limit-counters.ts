import type { Clock } from '#base/time/clock.ts';
import type { LimitStatus } from './limit-error.ts';
import type { Claim, Counter, LeasedClaims, LimitStore, RequestedClaim } from './limit-store.ts';
import type { Limit } from './limits.ts';
import { Calendar, type Window } from './windows.ts';

/** Limits of a subject on a deployment, and the names of its counters. */
export interface Account {
  readonly limits: readonly Limit[];
  readonly subject: string;
  readonly subjectOnDeployment: string;
}

/** Amounts by kind. */
type Amounts = Readonly<Record<Window['kind'], number>>;

/** Actual or estimated usage of a call. */
export type CallAmounts = Omit<Amounts, 'requests'>;

/** A call that requests admission. */
export interface AdmissionRequest {
  readonly estimate: CallAmounts;
  /** Reservations of the calls in its call chain. */
  readonly chainClaims: readonly Claim[];
  /** Returns whether the client is still connected. */
  readonly isClientConnected: () => boolean;
}

/** State of an account's limits before the call, in their order, and the reservations of the call if the limits admit it. */
export interface Admission {
  readonly statuses: readonly LimitStatus[];
  readonly claims: LeasedClaims;
}

/** Thrown if an estimate is not a finite number of at least 0. The call is rejected, because it could exceed the limits. */
export class InvalidAmountError extends Error {
  override readonly name = 'InvalidAmountError';
}

const oneRequest: Amounts = { requests: 1, tokens: 0, cost: 0 };
const noAmounts: Amounts = { requests: 0, tokens: 0, cost: 0 };

/** Returns the account. Tokens and requests are counted per deployment, and cost over all deployments. */
export function toAccount(subject: string, deployment: string, limits: readonly Limit[]): Account {
  // IDs of deployments contain no line break, so these names are unique for any subject.
  return { limits, subject, subjectOnDeployment: `${deployment}\n${subject}` };
}

/** Counts usage in the current periods. Rethrows errors of the store. */
export class LimitCounters {
  readonly #store: LimitStore;
  readonly #clock: Clock;
  readonly #calendar = new Calendar();
  readonly #queues: CallQueues<Admission>;

  constructor(store: LimitStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
    this.#queues = new CallQueues(clock);
  }

  /**
   * Counts one request and reserves its estimate, unless a limit is exhausted. If only reservations block the call, queues it
   * for a bounded time. Throws `InvalidAmountError`.
   */
  async admit(account: Account, request: AdmissionRequest): Promise<Admission> {
    const claims = toClaims(account, request);
    const attempt = () => this.#reserve(account, oneRequest, claims);
    const firstOutcome = await attempt();
    if (!isBlocked(firstOutcome)) return firstOutcome;
    return this.#queues.enqueue(account.subjectOnDeployment, {
      firstOutcome,
      attempt,
      isBlocked,
      isClientConnected: request.isClientConnected,
    });
  }

  async read(account: Account): Promise<readonly LimitStatus[]> {
    const { statuses } = await this.#reserve(account, noAmounts, toClaims(account, { estimate: noAmounts, chainClaims: [] }));
    return statuses;
  }

  /** Adds the actual usage, regardless of the limits, and releases the reservation. */
  async settle(account: Account, { claims, lease }: LeasedClaims, usedAmounts: CallAmounts): Promise<void> {
    const counters = this.#counters(account, { ...usedAmounts, requests: 0 }).filter(({ amount }) => amount > 0);
    const heldClaims = claims.filter(({ amount }) => amount > 0);
    if (counters.length === 0 && heldClaims.length === 0) return;
    await this.#store.settle(counters, { claims: heldClaims, lease });
    this.#queues.wake(account.subjectOnDeployment);
  }

  async #reserve(account: Account, amounts: Amounts, claims: readonly RequestedClaim[]): Promise<Admission> {
    const counters = this.#counters(account, amounts);
    const { used, reserved, lease } = await this.#store.reserve(counters, claims);
    const statuses = counters.map(({ window, total, endsAtMs }, index): LimitStatus => {
      const claim = claims.findIndex(({ kind }) => kind === window.kind);
      return { window, total, used: used[index] ?? 0, reserved: reserved[claim] ?? 0, resetsAtMs: endsAtMs };
    });
    return { statuses, claims: { claims, lease } };
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

/** Returns one claim for each kind that a limit bounds. */
function toClaims(
  { limits, subject, subjectOnDeployment }: Account,
  { estimate, chainClaims }: Pick<AdmissionRequest, 'estimate' | 'chainClaims'>,
): readonly RequestedClaim[] {
  const claims: RequestedClaim[] = [];
  for (const kind of ['tokens', 'cost'] as const) {
    if (!limits.some(({ window }) => window.kind === kind)) continue;
    const holder = kind === 'cost' ? subject : subjectOnDeployment;
    let exemptAmount = 0;
    for (const claim of chainClaims) if (claim.kind === kind && claim.holder === holder) exemptAmount += claim.amount;
    claims.push({ kind, holder, amount: Math.min(requireAmount(estimate[kind]), Number.MAX_SAFE_INTEGER), exempt: exemptAmount });
  }
  return claims;
}

function requireAmount(amount: number): number {
  if (Number.isFinite(amount) && amount >= 0) return amount;
  throw new InvalidAmountError(`An estimate must be a finite number of at least 0, but is ${amount}`);
}

/** Returns whether only reservations block the call. */
function isBlocked({ statuses }: Admission): boolean {
  let isBlockedByReservations = false;
  for (const { used, reserved, total } of statuses) {
    if (used >= total) return false;
    if (used + reserved >= total) isBlockedByReservations = true;
  }
  return isBlockedByReservations;
}

/** Maximum time that a call waits for other calls to end. */
const maxWaitMs = 5_000;
/** Interval between attempts. Calls that end on other nodes or on other deployments cause no wake-up. */
const pollIntervalMs = 200;
/** Maximum number of calls in one queue. Further calls return immediately with their first outcome. */
const maxQueueLength = 1_000;

/** A call that the reservations of the caller's other calls block. */
interface BlockedCall<Outcome> {
  /** Outcome of the first attempt. */
  readonly firstOutcome: Outcome;
  readonly attempt: () => Promise<Outcome>;
  /** Returns whether the call must continue to wait. */
  readonly isBlocked: (outcome: Outcome) => boolean;
  /** Returns whether the client is still connected. */
  readonly isClientConnected: () => boolean;
}

interface Waiter<Outcome> extends BlockedCall<Outcome> {
  readonly deadlineMs: number;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
}

interface Queue<Outcome> {
  readonly waiters: Waiter<Outcome>[];
  /** Ends the pause between attempts when aborted. */
  wakeController: AbortController;
}

/** FIFO queues of calls that wait for other calls to end. Runs at most one attempt per queue at a time. */
export class CallQueues<Outcome> {
  readonly #clock: Clock;
  readonly #queues = new Map<string, Queue<Outcome>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves with the first outcome that does not block the call, or with the last outcome after `maxWaitMs`. */
  enqueue(name: string, call: BlockedCall<Outcome>): Promise<Outcome> {
    const existing = this.#queues.get(name);
    const queue = existing ?? { waiters: [], wakeController: new AbortController() };
    if (queue.waiters.length >= maxQueueLength) return Promise.resolve(call.firstOutcome);
    const outcome = new Promise<Outcome>((resolve, reject) => {
      queue.waiters.push({ ...call, deadlineMs: this.#clock.nowMs() + maxWaitMs, resolve, reject });
    });
    if (existing === undefined) {
      this.#queues.set(name, queue);
      void this.#drain(name, queue);
    }
    return outcome;
  }

  /** Starts an attempt immediately. Called when a call of the queue ends. */
  wake(name: string): void {
    this.#queues.get(name)?.wakeController.abort();
  }

  async #drain(name: string, queue: Queue<Outcome>): Promise<void> {
    while (queue.waiters.length > 0) {
      await this.#clock.sleep(pollIntervalMs, queue.wakeController.signal).catch(() => undefined);
      queue.wakeController = new AbortController();
      while (await this.#tryFirst(queue));
    }
    this.#queues.delete(name);
  }

  /** Returns whether the first call left the queue. */
  async #tryFirst({ waiters }: Queue<Outcome>): Promise<boolean> {
    const [first] = waiters;
    if (first === undefined) return false;
    try {
      const outcome = first.isClientConnected() ? await first.attempt() : first.firstOutcome;
      if (first.isClientConnected() && first.isBlocked(outcome) && this.#clock.nowMs() < first.deadlineMs) return false;
      first.resolve(outcome);
    } catch (error) {
      first.reject(error);
    }
    waiters.shift();
    return true;
  }
}
