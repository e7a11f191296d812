import { hash } from 'node:crypto';
import type { Upstream, UpstreamError, UpstreamQuota } from './upstream.ts';
import {
  ampleShare,
  defaultPauseSeconds,
  type FailedCall,
  isCredentialStatus,
  minPauseMs,
  UpstreamHealth,
} from './upstream-health.ts';
import { UpstreamQueue } from './upstream-queue.ts';

/** Retention of an upstream's health after its last update and the end of its pause. */
const retentionMs = 3_600_000;
/** Maximum number of upstreams whose health is stored. Users can create any number with drafts of applications. */
const maxUpstreams = 10_000;

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
  readonly isPaused: boolean;
  readonly reason: 'rate_limited' | 'failing' | undefined;
  /** Calls in progress. 0 for an upstream without `maxParallel`, whose calls are not counted. */
  readonly parallel: number;
  readonly maxParallel: number | undefined;
  /**
   * Status of the rejection of the configured credentials. Undefined after a successful call, and for a key that was
   * not sent yet.
   */
  readonly rejectsWith: number | undefined;
}

/** A pause because of a rate limit, in milliseconds. */
export interface UpstreamPause {
  readonly revision: string;
  readonly offForMs: number;
}

/** State of an upstream with details for administrators. */
interface DetailedState extends UpstreamState {
  readonly failuresInARow: number;
  /** Last status 401, 402, 403, or 429. Undefined after a successful call or another failed call. */
  readonly refusedStatus: number | undefined;
  /** Reason why the last failed call had no connection or no response. Undefined after a successful call. */
  readonly lastError: string | undefined;
  /** Remaining pause. 0 if the upstream is not paused. */
  readonly pausedForMs: number;
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
 * - If all upstreams are paused, those whose failures a single caller may have caused stay available. If the requests of several
 * callers may have caused the failures of an upstream, one call per second may try it as a probe.
 * - An upstream with `maxParallel` calls in progress is full. Calls then use other upstreams, also of higher tiers, or wait.
 */
export class LoadBalancer {
  /** Health by revision. */
  readonly #health = new Map<string, UpstreamHealth>();
  /** Number of calls in progress by upstream ID, for upstreams with `maxParallel`. */
  readonly #parallel = new Map<string, number>();
  readonly queue = new UpstreamQueue((limit) => this.#toOwnPart(limit));
  readonly #worker: WorkerPosition;
  #nextSweepMs = 0;
  #onPause: (pause: UpstreamPause) => void = () => undefined;

  /** `worker` is the position of this process among the workers of its node, which divide each `maxParallel` and `maxWaiting`. */
  constructor(worker: WorkerPosition = { slot: 1, count: 1 }) {
    this.#worker = worker;
  }

  /** Sets the only listener for pauses because of rate limits, which other nodes can apply. */
  onPause(listener: (pause: UpstreamPause) => void): void {
    this.#onPause = listener;
  }

  /**
   * Selects the next upstream. Repeats one that this call has tried only if no other is available. Calls with the same affinity
   * get the same upstream of a tier, distributed by weight. Returns `full` if each available upstream is full,
   * and undefined if no upstream is available or due for a probe.
   */
  pick(upstreams: readonly Upstream[], options: PickOptions): Upstream | 'full' | undefined {
    const { triedIds, nowMs, affinity } = options;
    const [first] = upstreams;
    const isOnly = upstreams.length === 1 && first !== undefined;
    if (isOnly && first.weight > 0 && !this.#isPausedForAll(first, nowMs)) return this.#isFull(first) ? 'full' : first;
    const unpaused = upstreams.filter((upstream) => upstream.weight > 0 && !this.#isPaused(upstream, nowMs));
    const available =
      unpaused.length > 0
        ? unpaused
        : upstreams.filter((upstream) => upstream.weight > 0 && !this.#isPausedForAll(upstream, nowMs));
    if (available.length === 0) return this.#pickForProbe(upstreams, options);
    const free = this.#parallel.size === 0 ? available : available.filter((upstream) => !this.#isFull(upstream));
    if (free.length === 0) return 'full';
    const untried = free.filter((upstream) => !triedIds.has(upstream.id));
    const candidates = untried.length > 0 ? untried : free;
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

  /** Records a successful call. Keeps the pause of a rate limit that occurred after the call started. */
  recordSuccess({ revision }: Upstream, requestedAtMs: number): void {
    this.#health.get(revision)?.recordSuccess(requestedAtMs);
  }

  /** Ends the probe of a call that no longer uses the upstream, so that another call can be the next probe. */
  releaseProbe({ revision }: Upstream, call: object): void {
    this.#health.get(revision)?.endProbe(call);
  }

  recordRateLimit({ revision }: Upstream, { retryAfterSeconds = defaultPauseSeconds }: UpstreamError, nowMs: number): void {
    this.#pause({ revision, offForMs: retryAfterSeconds * 1000 }, nowMs);
  }

  /** Applies a pause because of a rate limit, which another node may have observed. */
  applyPause({ revision, offForMs }: UpstreamPause, nowMs: number): void {
    this.#getOrCreate(revision, nowMs).pauseForRateLimit(offForMs, nowMs);
  }

  /** Records the quota that a reply reports. Without remaining quota, pauses the upstream until the next unit of it is available. */
  recordQuota({ revision }: Upstream, quota: UpstreamQuota, nowMs: number): void {
    const { remainingShare, resetMs, limit } = quota;
    if (remainingShare >= ampleShare && !this.#health.has(revision)) return;
    this.#getOrCreate(revision, nowMs).recordQuota(quota, nowMs);
    if (remainingShare <= 0) this.#pause({ revision, offForMs: Math.max(minPauseMs, resetMs / limit) }, nowMs);
  }

  /**
   * Records a rejection of Parley's credentials or plan. The upstream stays available, because only further calls show when it
   * accepts them again.
   */
  recordRejection({ revision, key }: Upstream, { status }: UpstreamError, nowMs: number): void {
    if (isCredentialStatus(status)) this.#getOrCreate(revision, nowMs).recordRejection(status, key);
  }

  /** Counts a failed call, unless the upstream is paused. Must be called at most once per call, regardless of its attempts. */
  recordFailure({ revision }: Upstream, call: FailedCall): void {
    this.#getOrCreate(revision, call.nowMs).recordFailure(call);
  }

  /** Returns the time until the first of these upstreams is available again, in whole seconds. At least 1. */
  getRetryAfterSeconds(upstreams: readonly Upstream[], nowMs: number): number {
    const soonestMs = Math.min(...upstreams.map(({ revision }) => this.#health.get(revision)?.pausedUntilMs ?? 0));
    return Math.max(1, Math.ceil((soonestMs - nowMs) / 1000));
  }

  /** Returns whether all these upstreams are paused because of rate limits. */
  areAllRateLimited(upstreams: readonly Upstream[], nowMs: number): boolean {
    return upstreams.every(({ revision }) => this.#health.get(revision)?.getPauseReason(nowMs) === 'rate_limited');
  }

  getState({ id, revision, key, maxParallel }: Upstream, nowMs: number): UpstreamState {
    const health = this.#health.get(revision);
    return {
      id,
      isPaused: health?.isPaused(nowMs) === true,
      reason: health?.getPauseReason(nowMs),
      parallel: this.#parallel.get(id) ?? 0,
      maxParallel: maxParallel && this.#toOwnPart(maxParallel),
      rejectsWith: health?.findRejection(key),
    };
  }

  getDetailedState(upstream: Upstream, nowMs: number): DetailedState {
    const { pausedUntilMs = 0, failuresInARow = 0, refusedStatus, lastError } = this.#health.get(upstream.revision) ?? {};
    return {
      ...this.getState(upstream, nowMs),
      failuresInARow,
      refusedStatus,
      lastError,
      pausedForMs: Math.max(0, pausedUntilMs - nowMs),
    };
  }

  /** Returns this worker's part of the limit of a node. It is at least 1, unless the limit is 0. */
  #toOwnPart(limit: number): number {
    const { slot, count } = this.#worker;
    return Math.max(Math.min(limit, 1), Math.floor(limit / count) + (slot <= limit % count ? 1 : 0));
  }

  #isFull({ id, maxParallel }: Upstream): boolean {
    return maxParallel !== undefined && (this.#parallel.get(id) ?? 0) >= this.#toOwnPart(maxParallel);
  }

  #isPaused({ revision }: Upstream, nowMs: number): boolean {
    return this.#health.get(revision)?.isPaused(nowMs) === true;
  }

  #isPausedForAll({ revision }: Upstream, nowMs: number): boolean {
    return this.#health.get(revision)?.isPausedForAll(nowMs) === true;
  }

  /** Returns a paused upstream that this call may try as a probe. */
  #pickForProbe(upstreams: readonly Upstream[], { nowMs, call }: PickOptions): Upstream | undefined {
    if (call === undefined) return undefined;
    const ordered = upstreams.toSorted((left, right) => left.tier - right.tier);
    return ordered.find(({ weight, revision }) => weight > 0 && this.#health.get(revision)?.startProbe(call, nowMs) === true);
  }

  /** Selects by smooth weighted round-robin. */
  #choose(upstreams: readonly Upstream[], nowMs: number): Upstream | undefined {
    let best: { readonly upstream: Upstream; readonly health: UpstreamHealth } | undefined;
    let total = 0;
    for (const upstream of upstreams) {
      const health = this.#getOrCreate(upstream.revision, nowMs);
      const weight = upstream.weight * health.computeShare(nowMs);
      health.credit += weight;
      total += weight;
      if (best === undefined || health.credit > best.health.credit) best = { upstream, health };
    }
    if (best !== undefined) best.health.credit -= total;
    return best?.upstream;
  }

  #pause(pause: UpstreamPause, nowMs: number): void {
    this.applyPause(pause, nowMs);
    this.#onPause(pause);
  }

  #getOrCreate(revision: string, nowMs: number): UpstreamHealth {
    let health = this.#health.get(revision);
    if (health === undefined) {
      this.#sweepIfDue(nowMs);
      health = new UpstreamHealth();
      this.#health.set(revision, health);
      if (this.#health.size > maxUpstreams) this.#health.delete(this.#health.keys().next().value ?? '');
    }
    health.updatedAtMs = nowMs;
    return health;
  }

  /** Runs when an upstream is added, because no event reports removed upstreams. The map then contains only recent ones. */
  #sweepIfDue(nowMs: number): void {
    if (nowMs < this.#nextSweepMs) return;
    this.#nextSweepMs = nowMs + retentionMs;
    for (const [revision, { updatedAtMs, pausedUntilMs }] of this.#health)
      if (Math.max(updatedAtMs, pausedUntilMs) + retentionMs <= nowMs) this.#health.delete(revision);
  }
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
