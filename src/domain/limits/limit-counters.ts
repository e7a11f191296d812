import type { Clock } from '#base/time/clock.ts';
import { findReachedThresholds, type ReachedThreshold } from './limit-alerts.ts';
import type { LimitStatus } from './limit-status.ts';
import type { Claim, Counter, LeasedClaims, LimitStore, RequestedClaim } from './limit-store.ts';
import type { Limit } from './limits.ts';
import { Calendar, type CompleteReset, type PeriodEnds, type Window } from './windows.ts';

/** Limits of a call, with the holders of their counters. */
export interface LimitAccount {
  readonly limits: readonly CountedLimit[];
  /** Claims of a call, without amounts: one for each kind and holder. */
  readonly claims: readonly Pick<Claim, 'kind' | 'holder'>[];
  /** Name of the queue of calls that wait for other calls. */
  readonly queue: string;
  /** Whether one of the limits has alerts. */
  readonly hasAlerts: boolean;
}

/** A limit with the holder of its counter. */
interface CountedLimit extends Limit {
  readonly holder: string;
  /** Index of its claim, or -1. */
  readonly claimIndex: number;
}

type Amounts = Readonly<Record<Window['kind'], number>>;

/** Actual or estimated usage of a call. */
export type CallAmounts = Omit<Amounts, 'requests' | 'calls'>;

/** A call that requests admission. */
export interface AdmissionRequest {
  readonly estimate: CallAmounts;
  /** Reservations of the calls in its call chain. */
  readonly chainClaims: readonly Claim[];
  readonly isClientConnected: () => boolean;
}

/** Statuses of the account's limits before the call, in the same order, and the reservations of the call if it is admitted. */
export interface Admission {
  readonly statuses: readonly LimitStatus[];
  readonly leasedClaims: LeasedClaims;
  /** Monotonic time in milliseconds. */
  readonly startedAtMs: number;
}

/** Thrown if an estimate is not a finite number of at least 0. The call is rejected, because it could exceed the limits. */
export class InvalidAmountError extends Error {
  override readonly name = 'InvalidAmountError';
}

const noAmounts: Amounts = { requests: 0, tokens: 0, cost: 0, calls: 0 };
const oneRequest: Amounts = { ...noAmounts, requests: 1 };

/** Weight of the latest call in the moving average of durations. */
const newestWeight = 0.2;
/** Maximum number of holders with a stored average. The oldest averages are dropped. */
const maxDurations = 10_000;

/** Delay of a check for alerts. */
const checkDelayMs = 300;

const noAccount: LimitAccount = { limits: [], claims: [], queue: '', hasAlerts: false };

/** Returns the account of a subject on a deployment. */
export function toLimitAccount(subject: string, deployment: string, limits: readonly Limit[]): LimitAccount {
  if (limits.length === 0) return noAccount;
  const claims: Pick<Claim, 'kind' | 'holder'>[] = [];
  const toClaim = (kind: Window['kind'], holder: string): number => {
    if (kind === 'requests') return -1;
    const index = claims.findIndex((claim) => claim.kind === kind && claim.holder === holder);
    return index === -1 ? claims.push({ kind, holder }) - 1 : index;
  };
  const counted = limits.map((limit): CountedLimit => {
    const holder = toHolder(limit, subject, limit.isOverall ? undefined : deployment);
    return { ...limit, holder, claimIndex: toClaim(limit.window.kind, holder) };
  });
  const hasAlerts = limits.some(({ alerts }) => alerts !== undefined);
  return { limits: counted, claims, queue: `${deployment}\n${subject}`, hasAlerts };
}

/**
 * Returns the holder of the counter of a limit. Different subjects, deployments, and scopes have different holders, because IDs of
 * deployments contain no line break, and no subject starts with one.
 */
function toHolder({ scope, window }: Limit, subject: string, deployment: string | undefined): string {
  if (scope === undefined) return deployment === undefined ? subject : `${deployment}\n${subject}`;
  const { kind, id, resetAt } = scope;
  const name = `\n\n${kind}\n${deployment ?? ''}\n${id}`;
  // A reset does not end the calls in progress.
  return resetAt === undefined || window.kind === 'calls' ? name : `${name}\n\n${resetAt}`;
}

/** Counts usage in the current periods. Rethrows errors of the store. */
export class LimitCounters {
  readonly #store: LimitStore;
  readonly #clock: Clock;
  readonly #calendar = new Calendar();
  readonly #calendars = new WeakMap<CompleteReset, Calendar>();
  readonly #queues: CallQueues<Admission>;
  /** Average duration in milliseconds of the last calls that held a `calls` claim, by holder. */
  readonly #durations = new Map<string, number>();
  readonly #delayedChecks = new Set<string>();
  #onThreshold: ((reached: ReachedThreshold) => void) | undefined;

  constructor(store: LimitStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
    this.#queues = new CallQueues(clock);
  }

  /** Registers the only listener. It is called with a threshold that is reached, possibly several times in one period. */
  onThreshold(listener: (reached: ReachedThreshold) => void): void {
    this.#onThreshold = listener;
  }

  /**
   * Counts one request and reserves its estimate, unless a limit is exhausted. If only reservations of tokens or cost block the
   * call, queues it for up to `maxWaitMs`. Throws `InvalidAmountError`.
   */
  async admit(account: LimitAccount, request: AdmissionRequest): Promise<Admission> {
    const admission = await this.#admit(account, request);
    if (account.hasAlerts) {
      const isAdmitted = admission.statuses.every(({ used, reserved, limit: { total } }) => used + reserved < total);
      this.#reportUsage(account, admission.statuses, isAdmitted ? 1 : 0);
      if (this.#store.isApproximate) this.#checkLater(account);
    }
    return admission;
  }

  async #admit(account: LimitAccount, request: AdmissionRequest): Promise<Admission> {
    const claims = toClaims(account, { ...request, amounts: { ...request.estimate, calls: 1 } });
    const attempt = () => this.#reserve(account, oneRequest, claims);
    const firstOutcome = await attempt();
    if (!isBlocked(firstOutcome)) return firstOutcome;
    return this.#queues.enqueue(account.queue, {
      firstOutcome,
      attempt,
      isBlocked,
      isClientConnected: request.isClientConnected,
    });
  }

  async readStatuses(account: LimitAccount): Promise<readonly LimitStatus[]> {
    const { statuses } = await this.#reserve(account, noAmounts, toClaims(account, { amounts: noAmounts, chainClaims: [] }));
    return statuses;
  }

  /** Adds the actual usage, regardless of the limits, and releases the reservation. */
  async settle(
    account: LimitAccount,
    { leasedClaims: { claims, lease }, startedAtMs }: Pick<Admission, 'leasedClaims' | 'startedAtMs'>,
    usedAmounts: CallAmounts,
  ): Promise<void> {
    const allCounters = this.#listCounters(account, { ...usedAmounts, requests: 0, calls: 0 });
    const counters = allCounters.filter(({ amount }) => amount > 0);
    const heldClaims = claims.filter(({ amount }) => amount > 0);
    if (counters.length === 0 && heldClaims.length === 0) return;
    for (const { kind, holder } of heldClaims)
      if (kind === 'calls') this.#recordDuration(holder, this.#clock.nowMs() - startedAtMs);
    const usedAfter = await this.#store.settle(counters, { claims: heldClaims, lease });
    this.#queues.wake(account.queue);
    if (!account.hasAlerts) return;
    if (this.#store.isApproximate) this.#checkLater(account);
    for (const [index, used] of usedAfter.entries()) {
      const counter = counters[index];
      const limit = counter && account.limits[allCounters.indexOf(counter)];
      if (counter !== undefined && limit !== undefined) this.#report(limit, used, counter.endsAtMs);
    }
  }

  /** Reports the thresholds that are reached, after a delay, so that one check covers many calls. */
  #checkLater(account: LimitAccount): void {
    if (this.#delayedChecks.has(account.queue)) return;
    this.#delayedChecks.add(account.queue);
    const check = async (): Promise<void> => {
      await this.#clock.sleep(checkDelayMs, new AbortController().signal);
      this.#delayedChecks.delete(account.queue);
      this.#reportUsage(account, await this.readStatuses(account), 0);
    };
    // After an error of the store, the next call checks again.
    check().catch(() => undefined);
  }

  /** Reports the thresholds that are reached, with the requests that were added after the counters were read. */
  #reportUsage({ limits }: LimitAccount, statuses: readonly LimitStatus[], addedRequests: number): void {
    for (const [index, { used, resetsAtMs }] of statuses.entries()) {
      const limit = limits[index];
      if (limit?.alerts === undefined) continue;
      this.#report(limit, limit.window.kind === 'requests' ? used + addedRequests : used, resetsAtMs);
    }
  }

  #report(limit: CountedLimit, used: number, resetsAtMs: number): void {
    for (const reached of findReachedThresholds(limit, { used, resetsAtMs, holder: limit.holder })) this.#onThreshold?.(reached);
  }

  async #reserve(account: LimitAccount, amounts: Amounts, claims: readonly RequestedClaim[]): Promise<Admission> {
    const counters = this.#listCounters(account, amounts);
    const startedAtMs = this.#clock.nowMs();
    const { used, reserved, lease } = await this.#store.reserve(counters, claims);
    const statuses = account.limits.map(
      (limit, index): LimitStatus => ({
        limit,
        used: used[index] ?? 0,
        reserved: reserved[limit.claimIndex] ?? 0,
        resetsAtMs: limit.window.kind === 'calls' ? this.#estimateNextEnd(limit) : (counters[index]?.endsAtMs ?? 0),
      }),
    );
    return { statuses, leasedClaims: { claims, lease }, startedAtMs };
  }

  #recordDuration(holder: string, durationMs: number): void {
    const average = this.#durations.get(holder) ?? durationMs;
    this.#durations.delete(holder);
    this.#durations.set(holder, average + (durationMs - average) * newestWeight);
    if (this.#durations.size > maxDurations) this.#durations.delete(this.#durations.keys().next().value ?? '');
  }

  /** Returns the time when the next of `total` calls in progress is expected to end, in milliseconds since the epoch. */
  #estimateNextEnd({ holder, total }: CountedLimit): number {
    return this.#clock.epochMs() + (this.#durations.get(holder) ?? 0) / total;
  }

  #listCounters({ limits }: LimitAccount, amounts: Amounts): Counter[] {
    const nowMs = this.#clock.epochMs();
    const ends = this.#calendar.getEnds(nowMs);
    return limits.map(({ window, total, holder, claimIndex }) => ({
      window,
      holder,
      total,
      claimIndex,
      endsAtMs: (window.reset === undefined ? ends : this.#findPeriodEnds(window.reset, nowMs))[window.period],
      amount: Math.min(amounts[window.kind], Number.MAX_SAFE_INTEGER),
    }));
  }

  #findPeriodEnds(reset: CompleteReset, nowMs: number): PeriodEnds {
    const calendar = this.#calendars.get(reset) ?? new Calendar(reset);
    this.#calendars.set(reset, calendar);
    return calendar.getEnds(nowMs);
  }
}

interface ClaimOptions extends Pick<AdmissionRequest, 'chainClaims'> {
  readonly amounts: Readonly<Record<Claim['kind'], number>>;
}

/**
 * Returns the claims of a call with their amounts. For the kind `calls`, a holder counts a call chain as one call, regardless of
 * its inner calls.
 */
function toClaims(account: LimitAccount, { amounts, chainClaims }: ClaimOptions): RequestedClaim[] {
  return account.claims.map(({ kind, holder }) => {
    let exemptAmount = 0;
    for (const claim of chainClaims) if (claim.kind === kind && claim.holder === holder) exemptAmount += claim.amount;
    const isCounted = kind === 'calls' && exemptAmount > 0;
    const amount = isCounted ? 0 : Math.min(requireAmount(amounts[kind]), Number.MAX_SAFE_INTEGER);
    return { kind, holder, amount, exemptAmount };
  });
}

function requireAmount(amount: number): number {
  if (Number.isFinite(amount) && amount >= 0) return amount;
  throw new InvalidAmountError(`An estimate must be a finite number of at least 0, but is ${amount}`);
}

/** Returns whether only reservations of tokens or cost block the call. */
function isBlocked({ statuses }: Admission): boolean {
  let isBlockedByReservations = false;
  for (const {
    used,
    reserved,
    limit: { total, window },
  } of statuses) {
    if (used >= total || (window.kind === 'calls' && reserved >= total)) return false;
    if (used + reserved >= total) isBlockedByReservations = true;
  }
  return isBlockedByReservations;
}

/** Maximum time that a call waits for other calls to end. */
const maxWaitMs = 5_000;
/** Interval between attempts. Only the end of a call of the same caller and deployment on this node wakes the queue earlier. */
const pollIntervalMs = 200;
/** Maximum number of calls in one queue. Further calls return immediately with their first outcome. */
const maxQueueLength = 1_000;

/** A call that only reservations of other calls block. */
interface BlockedCall<Outcome> {
  readonly firstOutcome: Outcome;
  readonly attempt: () => Promise<Outcome>;
  /** Returns whether the call must continue to wait. */
  readonly isBlocked: (outcome: Outcome) => boolean;
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

  /** Starts an attempt immediately. Called when a call of the same caller and deployment ends. */
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
