import type { RequestChannel } from '#base/net/request-channel.ts';
import type { Clock } from '#base/time/clock.ts';
import {
  type Claim,
  type Counter,
  isAdmitted,
  type LeasedClaims,
  type LimitStore,
  type RequestedClaim,
  type ReserveOutcome,
} from '#domain/limits/limit-store.ts';
import type { Window } from '#domain/limits/windows.ts';
import { throwStoreError } from '#domain/store-error.ts';
import {
  type ReserveAnswer,
  type ReserveMessage,
  type ReturnedShare,
  type SentHolder,
  type SentUsage,
  type SettleMessage,
  toSentCounter,
} from './share-messages.ts';

/** Share of one counter. */
interface CounterShare {
  readonly window: Window;
  readonly endsAtMs: number;
  /** Amount that this worker may use without a message. */
  granted: number;
  /** Used part of it that the primary process does not know yet. */
  consumed: number;
  /** Usage that the primary process reported last, plus the usage that this worker has sent since then. */
  reportedUsed: number;
}

/** Shares of one holder, in all windows of one kind. */
interface HolderShare {
  readonly counters: CounterShare[];
  /** Lease that came with the shares. The primary process counts the reservations of earlier leases. */
  readonly firstLease: number;
  /** Reserved amount of the calls in progress, which counts in each counter. */
  claimed: number;
  isIdle: boolean;
}

/** Interval of reports about used shares. A killed worker loses the usage since the last one. */
const reportMs = 200;
/** Interval of the checks for unused shares. A share is returned if it was not used between two checks. */
const idleMs = 2_000;

/**
 * Limits of a worker. As long as its shares suffice for a call, it needs no message to the primary process. Otherwise, the worker
 * returns its shares, and the primary process decides. Throws `StoreError`.
 */
export class WorkerLimitStore implements LimitStore {
  readonly isApproximate = true;
  readonly #channel: RequestChannel;
  /** Shares by kind and holder. */
  readonly #shares: Readonly<Record<Window['kind'], Map<string, HolderShare>>> = {
    requests: new Map(),
    tokens: new Map(),
    cost: new Map(),
    calls: new Map(),
  };
  readonly #timers: NodeJS.Timeout[];
  readonly #clock: Clock;
  #lastLease = 0;
  /** Whether a share was used since the last report. */
  #isUsed = false;

  constructor(channel: RequestChannel, clock: Clock) {
    this.#channel = channel;
    this.#clock = clock;
    this.#timers = [setInterval(() => this.#report(), reportMs).unref(), setInterval(() => this.#returnIdle(), idleMs).unref()];
  }

  reserve(counters: readonly Counter[], claims: readonly RequestedClaim[]): ReserveOutcome | Promise<ReserveOutcome> {
    const isExact = counters.every(({ amount }) => amount === 0) && claims.every(({ amount }) => amount === 0);
    return (isExact ? undefined : this.#reserveFromShares(counters, claims)) ?? this.#request(counters, claims, isExact);
  }

  settle(counters: readonly Counter[], { claims, lease }: LeasedClaims): readonly number[] {
    const remoteClaims: Claim[] = [];
    const remoteCounters: Counter[] = [];
    for (const claim of claims) {
      const share = this.#shares[claim.kind].get(claim.holder);
      if (lease !== '' && share !== undefined && Number(lease) >= share.firstLease) share.claimed -= claim.amount;
      else remoteClaims.push(claim);
    }
    for (const counter of counters) {
      const share = findCounter(this.#shares[counter.window.kind].get(counter.holder), counter);
      if (share === undefined) remoteCounters.push(counter);
      else this.#consume(share, counter.amount);
    }
    if (remoteClaims.length === 0 && remoteCounters.length === 0) return [];
    const message: SettleMessage = {
      counters: remoteCounters.map(toSentCounter),
      claims: remoteClaims.map(({ kind, holder, amount }) => [kind, holder, amount]),
    };
    this.#channel.send('limits.settle', message);
    return [];
  }

  /** Removes the shares of these holders, and returns them to the primary process. */
  readonly returnShares = (holders: readonly SentHolder[]): readonly ReturnedShare[] =>
    holders.flatMap(([kind, holder]) => {
      const share = this.#shares[kind].get(holder);
      if (share === undefined) return [];
      this.#shares[kind].delete(holder);
      const counters = share.counters.map(({ window, endsAtMs, consumed }) => [window.name, endsAtMs, consumed] as const);
      return [{ holder: [kind, holder], counters, claimed: share.claimed }];
    });

  /** Returns all shares to the primary process. */
  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    const holders = [...this.#listShares()].map(([kind, holder]) => [kind, holder] as const);
    await this.#channel.request('limits.return', this.returnShares(holders)).catch(() => undefined);
  }

  /** Returns undefined if the shares do not suffice. */
  #reserveFromShares(counters: readonly Counter[], claims: readonly RequestedClaim[]): ReserveOutcome | undefined {
    const used: number[] = [];
    for (const counter of counters) {
      const { kind } = counter.window;
      const holderShare = this.#shares[kind].get(counter.holder);
      const share = findCounter(holderShare, counter);
      if (holderShare === undefined || share === undefined) return undefined;
      const { claimed } = holderShare;
      const needed = kind === 'requests' ? counter.amount : (claims[counter.claimIndex]?.amount ?? 0);
      const free = share.granted - share.consumed - claimed;
      const counted = share.reportedUsed + share.consumed;
      if (free <= 0 || free < needed || counted + claimed >= counter.total) return undefined;
      used.push(counted);
    }
    for (const counter of counters) {
      const share = findCounter(this.#shares[counter.window.kind].get(counter.holder), counter);
      if (share !== undefined) this.#consume(share, counter.amount);
    }
    const reserved: number[] = [];
    for (const { kind, holder, amount, exemptAmount } of claims) {
      const share = this.#shares[kind].get(holder);
      reserved.push(Math.max(0, (share?.claimed ?? 0) - exemptAmount));
      if (share !== undefined) share.claimed += amount;
    }
    return { used, reserved, lease: String(this.#lastLease) };
  }

  async #request(counters: readonly Counter[], claims: readonly RequestedClaim[], isExact: boolean): Promise<ReserveOutcome> {
    const holders = new Map(counters.map(({ window: { kind }, holder }) => [`${kind} ${holder}`, [kind, holder] as const]));
    const message: ReserveMessage = {
      counters: counters.map(toSentCounter),
      claims: claims.map(({ kind, holder, amount, exemptAmount }) => [kind, holder, amount, exemptAmount]),
      returned: this.returnShares([...holders.values()]),
      isExact,
    };
    // Runs before the next message is processed, which may recall the shares.
    const onAnswer = ({ shares }: ReserveAnswer): void => {
      if (shares !== undefined) this.#addShares(counters, shares);
    };
    const onLate = (answer: ReserveAnswer): void => {
      onAnswer(answer);
      if (isAdmitted(counters, answer)) this.settle([], { claims, lease: '' });
    };
    const answer = await this.#channel
      .request('limits.reserve', message, { onAnswer, onLate })
      .catch(throwStoreError('the limits could not be checked'));
    const { used, reserved } = answer as ReserveAnswer;
    return { used, reserved, lease: '' };
  }

  #addShares(counters: readonly Counter[], shares: NonNullable<ReserveAnswer['shares']>): void {
    this.#lastLease += 1;
    for (const [index, { window, holder, endsAtMs }] of counters.entries()) {
      const [granted, reportedUsed] = shares[index] ?? [0, 0];
      const byHolder = this.#shares[window.kind];
      const share = byHolder.get(holder) ?? { counters: [], firstLease: this.#lastLease, claimed: 0, isIdle: false };
      share.counters.push({ window, endsAtMs, granted, consumed: 0, reportedUsed });
      byHolder.set(holder, share);
    }
  }

  #consume(share: CounterShare, amount: number): void {
    if (amount === 0) return;
    share.consumed += amount;
    this.#isUsed = true;
  }

  /** Reports the used parts of the shares, and updates the usage by other workers. */
  #report(): void {
    if (!this.#isUsed) return;
    this.#isUsed = false;
    const usages: SentUsage[] = [];
    const reported: CounterShare[][] = [];
    for (const [kind, holder, share] of this.#listShares()) {
      const consumed = share.counters.filter((counter) => counter.consumed > 0);
      if (consumed.length === 0) continue;
      share.isIdle = false;
      reported.push(consumed);
      usages.push({
        holder: [kind, holder],
        counters: consumed.map((counter) => [counter.window.name, counter.endsAtMs, counter.consumed]),
      });
      for (const counter of consumed) {
        counter.granted -= counter.consumed;
        counter.reportedUsed += counter.consumed;
        counter.consumed = 0;
      }
    }
    this.#channel.request('limits.report', usages).then(
      (used) => {
        for (const [index, counters] of reported.entries())
          for (const [position, counter] of counters.entries())
            counter.reportedUsed = (used as readonly (readonly number[])[])[index]?.[position] ?? counter.reportedUsed;
      },
      // Without an answer, the values are only less current.
      () => undefined,
    );
  }

  /** Returns shares that were not used for some time, or whose period has ended. */
  #returnIdle(): void {
    const nowMs = this.#clock.epochMs();
    const idle: SentHolder[] = [];
    for (const [kind, holder, share] of this.#listShares()) {
      const isUnused = share.isIdle && share.claimed === 0 && share.counters.every(({ consumed }) => consumed === 0);
      if (isUnused || !share.counters.every(({ endsAtMs }) => endsAtMs > nowMs)) idle.push([kind, holder]);
      share.isIdle = true;
    }
    if (idle.length > 0) this.#channel.send('limits.return', this.returnShares(idle));
  }

  *#listShares(): Iterable<readonly [Window['kind'], string, HolderShare]> {
    for (const kind of ['requests', 'tokens', 'cost', 'calls'] as const)
      for (const [holder, share] of this.#shares[kind]) yield [kind, holder, share];
  }
}

function findCounter(share: HolderShare | undefined, { window, endsAtMs }: Counter): CounterShare | undefined {
  if (share === undefined) return undefined;
  for (const counter of share.counters) if (counter.window.name === window.name && counter.endsAtMs === endsAtMs) return counter;
  return undefined;
}
