import type { Clock } from '#base/time/clock.ts';
import type { LimitStatus } from './limit-error.ts';
import type { Claim, Counter, LeasedClaims, LimitStore, RequestedClaim } from './limit-store.ts';
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
export interface AdmissionRequest {
  readonly estimate: CallAmounts;
  /** What is reserved for the calls of whose chain it is a part. */
  readonly chainClaims: readonly Claim[];
  /** False once its caller has left. */
  readonly isClientConnected: () => boolean;
}

/** How the limits of an account stood, in their order, and what was reserved for a call, if they let it in. */
export interface Admission {
  readonly statuses: readonly LimitStatus[];
  readonly claims: LeasedClaims;
}

/** An estimate is not a finite number of at least 0. Admitting the call would break the limits of its caller, so it is rejected. */
export class InvalidAmountError extends Error {
  override readonly name = 'InvalidAmountError';
}

const oneRequest: Amounts = { requests: 1, tokens: 0, cost: 0 };
const noAmounts: Amounts = { requests: 0, tokens: 0, cost: 0 };

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
  readonly #queues: CallQueues<Admission>;

  constructor(store: LimitStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
    this.#queues = new CallQueues(clock);
  }

  /**
   * Counts one request and reserves what it may come to use, unless one of the limits is used up. If nothing but what is
   * reserved for others stands in the way, it waits a while for them to end. Throws `InvalidAmountError`.
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

  /** Adds what a call has used, however much is left, and gives back what was reserved for it. */
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
    const statuses = counters.map(({ window, total, endsAtMs }, at): LimitStatus => {
      const claim = claims.findIndex(({ kind }) => kind === window.kind);
      return { window, total, used: used[at] ?? 0, reserved: reserved[claim] ?? 0, resetsAtMs: endsAtMs };
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

/** For each kind that a limit bounds. */
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

/** Whether only what is reserved stands in the way. */
function isBlocked({ statuses }: Admission): boolean {
  let isBlockedByReservations = false;
  for (const { used, reserved, total } of statuses) {
    if (used >= total) return false;
    if (used + reserved >= total) isBlockedByReservations = true;
  }
  return isBlockedByReservations;
}

/** How long a call waits for others to end. */
const maxWaitMs = 5_000;
/** What ends on other nodes, or on other deployments, is not told here. */
const pollIntervalMs = 200;
/** More of one line are refused at once. */
const maxQueueLength = 1_000;

/** A call that is held up by others of its caller. */
interface BlockedCall<Outcome> {
  /** What its first attempt gave. */
  readonly firstOutcome: Outcome;
  readonly attempt: () => Promise<Outcome>;
  /** Whether it has to wait on. */
  readonly isBlocked: (outcome: Outcome) => boolean;
  /** False once its caller has left. */
  readonly isClientConnected: () => boolean;
}

interface Waiter<Outcome> extends BlockedCall<Outcome> {
  readonly deadlineMs: number;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
}

interface Queue<Outcome> {
  readonly waiters: Waiter<Outcome>[];
  /** Ends the pause between attempts. */
  wakeController: AbortController;
}

/** Calls that wait for others of the same line to end, first come, first served: one attempt at a time for a line. */
export class CallQueues<Outcome> {
  readonly #clock: Clock;
  readonly #queues = new Map<string, Queue<Outcome>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Gives the first outcome that does not hold it up, or the last one when it has waited long enough. */
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

  /** Called when a call of the line has ended. */
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

  /** Whether the first one left the line. */
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
