import { hash } from 'node:crypto';
import type { Secret } from '#base/secrets/secret.ts';
import type { Upstream, UpstreamError, UpstreamQuota } from './upstream.ts';
import { UpstreamQueue } from './upstream-queue.ts';

/** Duration of the pause after a 429 without Retry-After. */
export const rateLimitedSeconds = 30;
/** Maximum for a Retry-After from an upstream, because another attempt costs little. */
const maxOffSeconds = 60;
const firstBackOffMs = 1_000;
const maxBackOffMs = 300_000;
const probeEveryMs = 1_000;
/** Time after which unused state is deleted, starting at the end of the back-off. */
const retentionMs = 3_600_000;

/** Share of its weight that an upstream without remaining quota keeps. */
const minShare = 0.05;
/** Remaining share of a quota above which the weight does not decrease. */
const ampleShare = 0.5;

/** Statuses that concern credentials, payment, or rights. Only the operator can resolve them. */
const unauthorized = 401;
const credentialRejections: ReadonlySet<number> = new Set([unauthorized, 402, 403]);

/** Returns the seconds to wait before the next attempt at an upstream that returned this error. Clients receive the same value. */
export function getWaitSeconds({ retryAfterSeconds }: Pick<UpstreamError, 'retryAfterSeconds'>, defaultSeconds: number): number {
  return Math.min(maxOffSeconds, retryAfterSeconds ?? defaultSeconds);
}

interface UpstreamHealth {
  /** Time of the last update. */
  touchedAtMs: number;
  /** Time until which the upstream is paused. */
  offUntilMs: number;
  reason: 'rate_limited' | 'failing' | undefined;
  /** Time of the last rate limit. */
  limitedAtMs: number;
  failuresInARow: number;
  /** Status of the last response, if it rejected Parley's credentials or was a rate limit. */
  refusedStatus: number | undefined;
  /** Rejections of Parley's credentials since the last successful call. */
  consecutiveRejections: number;
  /** Key of the last rejection. */
  rejectedKey: Secret | undefined;
  lastError: string | undefined;
  /** The only caller of the consecutive failures. Undefined if there are several callers, or if no request can be the cause. */
  blamedCaller: string | undefined;
  /** Whether a request may have caused each of the consecutive failures. */
  isBlamedOnRequests: boolean;
  /** Call that tries the upstream while it is unavailable. */
  probe: object | undefined;
  /** Time of the last failure or of the last probe. */
  lastAttemptAtMs: number;
  /** State of the smooth weighted round-robin. */
  credit: number;
  /** The last reported quota, and the time of the report. */
  quota: (UpstreamQuota & { readonly atMs: number }) | undefined;
}

/** Options for a selection. */
export interface PickOptions {
  /** IDs of upstreams that this call has tried. */
  readonly triedIds: ReadonlySet<string>;
  readonly nowMs: number;
  readonly affinity?: string | undefined;
  /** Object that identifies the call if it becomes the probe. If undefined, the call cannot be a probe. */
  readonly call?: object;
}

/** State of an upstream on this node. */
export interface UpstreamState {
  readonly id: string;
  /** Whether the upstream is paused. */
  readonly off: boolean;
  readonly reason: 'rate_limited' | 'failing' | undefined;
  /** Calls in progress. 0 for an upstream without `maxParallel`, whose calls are not counted. */
  readonly parallel: number;
  readonly maxParallel: number | undefined;
  /**
   * Status with which the upstream rejects the configured credentials. 401 counts immediately. 402 and 403 count from the
   * second in a row, because the content of one request can cause them. Undefined after a successful call, and for a key that
   * was not sent yet.
   */
  readonly rejectsWith: number | undefined;
}

/** A pause because of a rate limit, in milliseconds. */
export interface UpstreamPause {
  readonly revision: string;
  readonly offForMs: number;
}

/** A failed call. */
export interface FailedCall {
  readonly nowMs: number;
  /** Subject of the user whose request may be the cause. Undefined if no request can be the cause. */
  readonly caller: string | undefined;
  /** Reason for the failure in one sentence, without addresses. Undefined if only the upstream knows the reason. */
  readonly message?: string | undefined;
}

/** State of an upstream, with the reason for its pause. */
export interface BackOff extends UpstreamState {
  readonly failuresInARow: number;
  /** Status of the last response if it is 401, 402, 403, or 429, which the client did not cause. */
  readonly refusedStatus: number | undefined;
  /** Reason why the last failed call had no connection or no response. Undefined after a successful call. */
  readonly lastError: string | undefined;
  /** Remaining pause in milliseconds. 0 if the upstream is not paused. */
  readonly offForMs: number;
}

/** Position of a process among the workers of a node, from 1. */
interface WorkerPosition {
  readonly slot: number;
  readonly count: number;
}

/**
 * Selects upstreams and pauses unhealthy ones (docs/upstreams.md, Retries and pauses). All times are milliseconds of one clock.
 * - Lower tiers come first. Within a tier, selection is a smooth weighted round-robin. The weight of an upstream with less than half
 * of its quota decreases in proportion.
 * - A 429 pauses an upstream for its Retry-After (at most 60 s), or for 30 s.
 * - From the second consecutive failed call on, an upstream is paused for 1 s, doubling up to 5 min.
 * - If no other upstream is available, one whose failures concern only one caller stays available. If requests of several
 * callers may have caused the failures, one call per second may try the upstream as a probe.
 * - An upstream with `maxParallel` calls in progress is full. Calls then use other upstreams, also of higher tiers, or wait.
 */
export class LoadBalancer {
  /** Health by revision. */
  readonly #health = new Map<string, UpstreamHealth>();
  /** Number of calls in progress by upstream ID, for upstreams with `maxParallel`. */
  readonly #parallel = new Map<string, number>();
  readonly queue = new UpstreamQueue();
  readonly #worker: WorkerPosition;
  #nextSweepMs = 0;
  #onPause: (pause: UpstreamPause) => void = () => undefined;

  /** `worker` is the position of this process among the workers of its node, which divide each `maxParallel`. */
  constructor(worker: WorkerPosition = { slot: 1, count: 1 }) {
    this.#worker = worker;
  }

  /** Sets the only listener for pauses because of rate limits, which other nodes can apply. */
  onPause(listener: (pause: UpstreamPause) => void): void {
    this.#onPause = listener;
  }

  /**
   * Selects the next upstream. Repeats one that this call has tried only if no other is available. Calls of one affinity get
   * the same upstream of a tier, distributed by weight. Returns undefined if all upstreams are paused, and `full` if the rest
   * are full.
   */
  pick(upstreams: readonly Upstream[], picking: PickOptions): Upstream | 'full' | undefined {
    const { triedIds, nowMs, affinity } = picking;
    const [only] = upstreams;
    const isHealthy = only !== undefined && (!this.#health.has(only.revision) || !this.#isUnavailable(only, nowMs));
    if (upstreams.length === 1 && isHealthy && only.weight > 0) return this.#isFull(only) ? 'full' : only;
    const unpaused = upstreams.filter((upstream) => upstream.weight > 0 && !this.#isOff(upstream, nowMs));
    const available =
      unpaused.length > 0
        ? unpaused
        : upstreams.filter((upstream) => upstream.weight > 0 && !this.#isUnavailable(upstream, nowMs));
    if (available.length === 0) return this.#pickProbed(upstreams, picking);
    const free = this.#parallel.size === 0 ? available : available.filter((upstream) => !this.#isFull(upstream));
    if (free.length === 0) return 'full';
    const fresh = free.filter((upstream) => !triedIds.has(upstream.id));
    const candidates = fresh.length > 0 ? fresh : free;
    if (candidates.length < 2) return candidates[0];
    const tier = Math.min(...candidates.map((upstream) => upstream.tier));
    const sameTier = candidates.filter((upstream) => upstream.tier === tier);
    return affinity === undefined ? this.#choose(sameTier, nowMs) : chooseByAffinity(sameTier, affinity);
  }

  /** Counts a call in progress at an upstream with `maxParallel`, until `vacate`. */
  occupy({ id }: Upstream): void {
    this.#parallel.set(id, (this.#parallel.get(id) ?? 0) + 1);
  }

  vacate({ id }: Upstream): void {
    const remaining = (this.#parallel.get(id) ?? 1) - 1;
    if (remaining === 0) this.#parallel.delete(id);
    else this.#parallel.set(id, remaining);
  }

  /** Records a successful call. Has no effect if a rate limit occurred after the call started. */
  recordSuccess(upstream: Upstream, requestedAtMs: number): void {
    const health = this.#health.get(upstream.revision);
    if (health === undefined || (health.reason === 'rate_limited' && health.limitedAtMs > requestedAtMs)) return;
    health.probe = undefined;
    health.lastAttemptAtMs = Number.NEGATIVE_INFINITY;
    health.failuresInARow = 0;
    health.refusedStatus = undefined;
    health.consecutiveRejections = 0;
    health.lastError = undefined;
    health.blamedCaller = undefined;
    health.offUntilMs = 0;
    health.reason = undefined;
  }

  /** Ends the probe of a call that no longer uses the upstream, so that another call can be the next probe. */
  releaseProbe(upstream: Upstream, call: object): void {
    const health = this.#health.get(upstream.revision);
    if (health?.probe === call) health.probe = undefined;
  }

  recordRateLimit(upstream: Upstream, error: UpstreamError, nowMs: number): void {
    const pause = { revision: upstream.revision, offForMs: getWaitSeconds(error, rateLimitedSeconds) * 1000 };
    this.applyPause(pause, nowMs);
    this.#onPause(pause);
  }

  /** Applies a pause because of a rate limit, which another node may have observed. */
  applyPause({ revision, offForMs }: UpstreamPause, nowMs: number): void {
    const health = this.#getHealth({ revision }, nowMs);
    health.offUntilMs = Math.max(health.offUntilMs, nowMs + Math.min(offForMs, maxOffSeconds * 1000));
    health.reason = 'rate_limited';
    health.limitedAtMs = nowMs;
    health.refusedStatus = 429;
  }

  /** Records the quota that a reply reports. Without remaining quota, pauses the upstream until the next unit of it is available. */
  recordQuota(upstream: Upstream, quota: UpstreamQuota, nowMs: number): void {
    const { remainingShare, resetMs, limit } = quota;
    if (remainingShare >= ampleShare && !this.#health.has(upstream.revision)) return;
    this.#getHealth(upstream, nowMs).quota = { ...quota, atMs: nowMs };
    if (remainingShare > 0) return;
    const pause = { revision: upstream.revision, offForMs: Math.max(firstBackOffMs, resetMs / limit) };
    this.applyPause(pause, nowMs);
    this.#onPause(pause);
  }

  /**
   * Records a rejection of Parley's credentials or plan. The upstream stays available, because only further calls show when it
   * accepts them again.
   */
  recordRejection(upstream: Upstream, { status }: UpstreamError, nowMs: number): void {
    if (status === undefined || !credentialRejections.has(status)) return;
    const health = this.#getHealth(upstream, nowMs);
    if (!isSameKey(health.rejectedKey, upstream.key)) health.consecutiveRejections = 0;
    health.refusedStatus = status;
    health.consecutiveRejections += 1;
    health.rejectedKey = upstream.key;
  }

  /** Counts a failed call once, regardless of its attempts. Does not count a failure during a pause. */
  recordFailure(upstream: Upstream, { nowMs, caller, message }: FailedCall): void {
    const health = this.#getHealth(upstream, nowMs);
    const isFirst = health.failuresInARow === 0;
    health.lastAttemptAtMs = nowMs;
    health.refusedStatus = undefined;
    health.lastError = message;
    health.isBlamedOnRequests = caller !== undefined && (isFirst || health.isBlamedOnRequests);
    if (isFirst) health.blamedCaller = caller;
    else if (health.blamedCaller !== caller) health.blamedCaller = undefined;
    if (health.offUntilMs > nowMs) return;
    health.failuresInARow += 1;
    if (health.failuresInARow < 2) return;
    const backOffMs = Math.min(maxBackOffMs, firstBackOffMs * 2 ** (health.failuresInARow - 2));
    health.offUntilMs = nowMs + backOffMs;
    health.reason = 'failing';
  }

  /** Returns the time until the first of these upstreams is available again, in whole seconds. At least 1. */
  retryAfterSeconds(upstreams: readonly Upstream[], nowMs: number): number {
    const soonest = Math.min(...upstreams.map((upstream) => this.#health.get(upstream.revision)?.offUntilMs ?? 0));
    return Math.max(1, Math.ceil((soonest - nowMs) / 1000));
  }

  /** Returns whether all these upstreams are paused because of rate limits. */
  areAllRateLimited(upstreams: readonly Upstream[], nowMs: number): boolean {
    return upstreams.every((upstream) => {
      const health = this.#health.get(upstream.revision);
      return health !== undefined && health.offUntilMs > nowMs && health.reason === 'rate_limited';
    });
  }

  getState(upstream: Upstream, nowMs: number): UpstreamState {
    const health = this.#health.get(upstream.revision);
    const off = health !== undefined && health.offUntilMs > nowMs;
    return {
      id: upstream.id,
      off,
      reason: off ? health.reason : undefined,
      parallel: this.#parallel.get(upstream.id) ?? 0,
      maxParallel: this.#toOwnPart(upstream.maxParallel),
      rejectsWith: health && findRejection(health, upstream),
    };
  }

  getBackOff(upstream: Upstream, nowMs: number): BackOff {
    const { offUntilMs = 0, failuresInARow = 0, refusedStatus, lastError } = this.#health.get(upstream.revision) ?? {};
    return {
      ...this.getState(upstream, nowMs),
      failuresInARow,
      refusedStatus,
      lastError,
      offForMs: Math.max(0, offUntilMs - nowMs),
    };
  }

  /** Returns the part of this worker. Each worker may have at least one call in progress. */
  #toOwnPart(maxParallel: number | undefined): number | undefined {
    const { slot, count } = this.#worker;
    if (maxParallel === undefined || count === 1) return maxParallel;
    return Math.max(1, Math.floor(maxParallel / count) + (slot <= maxParallel % count ? 1 : 0));
  }

  #isFull({ id, maxParallel }: Upstream): boolean {
    return maxParallel !== undefined && (this.#parallel.get(id) ?? 0) >= (this.#toOwnPart(maxParallel) ?? 0);
  }

  #isOff({ revision }: Upstream, nowMs: number): boolean {
    const health = this.#health.get(revision);
    return health !== undefined && health.offUntilMs > nowMs;
  }

  /**
   * Returns whether an upstream is paused for every caller. It is not if only requests of one caller can have caused the
   * failures.
   */
  #isUnavailable(upstream: Upstream, nowMs: number): boolean {
    const { reason, blamedCaller } = this.#health.get(upstream.revision) ?? {};
    return this.#isOff(upstream, nowMs) && (reason === 'rate_limited' || blamedCaller === undefined);
  }

  /** Returns an unavailable upstream that this call may try as a probe. */
  #pickProbed(upstreams: readonly Upstream[], { nowMs, call }: PickOptions): Upstream | undefined {
    if (call === undefined) return undefined;
    for (const upstream of upstreams.toSorted((left, right) => left.tier - right.tier)) {
      const health = this.#health.get(upstream.revision);
      if (upstream.weight === 0 || health === undefined || !isProbeDue(health, nowMs)) continue;
      health.probe = call;
      health.lastAttemptAtMs = nowMs;
      return upstream;
    }
    return undefined;
  }

  #choose(upstreams: readonly Upstream[], nowMs: number): Upstream | undefined {
    let best: Upstream | undefined;
    let bestCredit = Number.NEGATIVE_INFINITY;
    let total = 0;
    for (const upstream of upstreams) {
      const health = this.#getHealth(upstream, nowMs);
      const weight = upstream.weight * computeShare(health, nowMs);
      health.credit += weight;
      total += weight;
      if (health.credit > bestCredit) {
        best = upstream;
        bestCredit = health.credit;
      }
    }
    if (best !== undefined) this.#getHealth(best, nowMs).credit -= total;
    return best;
  }

  #getHealth({ revision }: Pick<Upstream, 'revision'>, nowMs: number): UpstreamHealth {
    let health = this.#health.get(revision);
    if (health === undefined) {
      this.#sweepIfDue(nowMs);
      health = { ...initialHealth };
      this.#health.set(revision, health);
      if (this.#health.size > maxUpstreams) this.#health.delete(this.#health.keys().next().value ?? '');
    }
    health.touchedAtMs = nowMs;
    return health;
  }

  /** Runs when an upstream is added, because no event reports removed upstreams. The map then contains only recent ones. */
  #sweepIfDue(nowMs: number): void {
    if (nowMs < this.#nextSweepMs) return;
    this.#nextSweepMs = nowMs + retentionMs;
    for (const [revision, { touchedAtMs, offUntilMs }] of this.#health)
      if (Math.max(touchedAtMs, offUntilMs) + retentionMs <= nowMs) this.#health.delete(revision);
  }
}

/** Maximum number of upstreams whose health is stored. Users can create any number with drafts of applications. */
const maxUpstreams = 10_000;

const initialHealth: Readonly<UpstreamHealth> = {
  touchedAtMs: 0,
  offUntilMs: 0,
  reason: undefined,
  limitedAtMs: Number.NEGATIVE_INFINITY,
  failuresInARow: 0,
  refusedStatus: undefined,
  consecutiveRejections: 0,
  rejectedKey: undefined,
  lastError: undefined,
  blamedCaller: undefined,
  isBlamedOnRequests: false,
  probe: undefined,
  lastAttemptAtMs: Number.NEGATIVE_INFINITY,
  credit: 0,
  quota: undefined,
};

/** Returns the share of its weight that an upstream has. A quota is assumed to refill evenly until its reset. */
function computeShare({ quota }: UpstreamHealth, nowMs: number): number {
  if (quota === undefined || nowMs - quota.atMs >= quota.resetMs) return 1;
  const { remainingShare, resetMs, atMs } = quota;
  const share = remainingShare + ((1 - remainingShare) * (nowMs - atMs)) / resetMs;
  return share >= ampleShare ? 1 : Math.max(minShare, share / ampleShare);
}

function isProbeDue({ reason, isBlamedOnRequests, probe, lastAttemptAtMs }: UpstreamHealth, nowMs: number): boolean {
  return reason === 'failing' && isBlamedOnRequests && probe === undefined && nowMs - lastAttemptAtMs >= probeEveryMs;
}

function findRejection(
  { refusedStatus, consecutiveRejections, rejectedKey }: UpstreamHealth,
  { key }: Upstream,
): number | undefined {
  if (refusedStatus === undefined || !credentialRejections.has(refusedStatus) || !isSameKey(rejectedKey, key)) return undefined;
  return refusedStatus === unauthorized || consecutiveRejections > 1 ? refusedStatus : undefined;
}

function isSameKey(left: Secret | undefined, right: Secret | undefined): boolean {
  return left?.reveal() === right?.reveal();
}

/**
 * Selects by weighted rendezvous hashing. Each upstream has an independent score for the affinity, so that adding or removing
 * one moves only its own calls.
 */
function chooseByAffinity(upstreams: readonly Upstream[], affinity: string): Upstream | undefined {
  let best: Upstream | undefined;
  let bestScore = Number.NEGATIVE_INFINITY;
  for (const upstream of upstreams) {
    const score = Math.log(toScore(`${affinity}\n${upstream.id}`)) / upstream.weight;
    if (score <= bestScore) continue;
    best = upstream;
    bestScore = score;
  }
  return best;
}

/** Returns a number between 0 and 1, exclusive. */
function toScore(text: string): number {
  return (Number.parseInt(hash('sha256', text, 'hex').slice(0, 12), 16) + 1) / (2 ** 48 + 1);
}
