import { hash } from 'node:crypto';
import type { Secret } from '#base/secrets/secret.ts';
import type { Upstream, UpstreamError } from './upstream.ts';

/** How long a 429 without Retry-After switches an upstream off. */
export const rateLimitedSeconds = 30;
/** However long an upstream asks for: asking again is cheap. */
const maxOffSeconds = 60;
const firstBackOffMs = 1_000;
const maxBackOffMs = 300_000;
const probeEveryMs = 1_000;
/** Health that was not touched for this long is dropped; counted from the end of the back-off. */
const retentionMs = 3_600_000;

/** Credentials, payment, rights: for the operator to mend, whatever was asked. */
const unauthorized = 401;
const credentialRefusals: ReadonlySet<number> = new Set([unauthorized, 402, 403]);

/** When an upstream that failed so is asked again; callers are told the same. */
export function getWaitSeconds({ retryAfterSeconds }: Pick<UpstreamError, 'retryAfterSeconds'>, defaultSeconds: number): number {
  return Math.min(maxOffSeconds, retryAfterSeconds ?? defaultSeconds);
}

interface UpstreamHealth {
  /** When something was last noted here. */
  touchedAtMs: number;
  /** Not asked before this time. */
  offUntilMs: number;
  reason: 'rate_limited' | 'failing' | undefined;
  /** When it was rate limited last. */
  limitedAtMs: number;
  failuresInARow: number;
  /** Of the last answer, if it was a refusal of ours. */
  refusedStatus: number | undefined;
  /** Refusals of ours since the last call that succeeded. */
  refusalsInARow: number;
  /** The key that the upstream refused last. */
  refusedKey: Secret | undefined;
  lastError: string | undefined;
  /** The one caller whose calls failed in a row; undefined if they are several, or if none can be to blame. */
  blamedCaller: string | undefined;
  /** Whether a request may be to blame for each failure in a row. */
  isBlamedOnRequests: boolean;
  /** The call that is let through while it is closed. */
  probe: object | undefined;
  /** When it failed last, or was asked by a probe. */
  requestedAtMs: number;
  /** Of smooth weighted choice. */
  credit: number;
}

/** What one choice depends on. */
export interface PickOptions {
  /** Ids of upstreams that this call has tried. */
  readonly triedIds: ReadonlySet<string>;
  readonly nowMs: number;
  readonly affinity?: string | undefined;
  /** Stands for the call that asks, which `left` ends; absent: it is never let through as a probe. */
  readonly call?: object;
}

export interface UpstreamState {
  readonly id: string;
  readonly off: boolean;
  readonly reason: 'rate_limited' | 'failing' | undefined;
  /**
   * The status with which it rejects the credentials of the configuration: 401, or 402 or 403 from the second in a row, since the
   * content of one request can cause these. Undefined after a call that succeeded, and for a key that was not sent yet.
   */
  readonly rejectsWith: number | undefined;
}

/** One call that failed. */
export interface FailedCall {
  readonly nowMs: number;
  /** The user subject whose request may be to blame; undefined if none can be. */
  readonly caller: string | undefined;
  /** Why the call failed, in a sentence of Parley without addresses. Absent if only the upstream knows. */
  readonly message?: string | undefined;
}

/** The state of an upstream, with how it came to it. */
export interface BackOff extends UpstreamState {
  readonly failuresInARow: number;
  /** The status of a refusal that is not the caller's fault (401, 402, 403, 429), if that is what came last. */
  readonly refusedStatus: number | undefined;
  /** Why the last failed call found no connection or no answer. Undefined after a call that succeeded. */
  readonly lastError: string | undefined;
  /** How long it is left alone from now on; 0 if it is not. */
  readonly offForMs: number;
}

/**
 * Chooses upstreams and remembers which to leave alone (docs/upstreams.md, Retries and pauses): tiers ascending, smooth weighted choice within
 * one; a 429 switches an upstream off for its Retry-After (60 s at most) or 30 s; from the second failed call in a row it is left alone
 * for 1 s, doubling to 5 min. If no other is left, one that failed calls of one caller only is asked all the same, and one whose
 * failures the requests of several may be to blame for is asked by one call at a time, once a second: a probe. Time comes in as
 * milliseconds of one clock.
 */
export class LoadBalancer {
  /** By revision. */
  readonly #health = new Map<string, UpstreamHealth>();
  #nextSweepMs = 0;

  /**
   * The next upstream to try; one that this call has tried only when no other is left. Calls of one affinity get the same
   * one of a tier, spread by weight. Undefined when all are off.
   */
  pick(upstreams: readonly Upstream[], picking: PickOptions): Upstream | undefined {
    const { triedIds, nowMs, affinity } = picking;
    const [only] = upstreams;
    const isHealthy = only !== undefined && (!this.#health.has(only.revision) || !this.#isClosed(only, nowMs));
    if (upstreams.length === 1 && isHealthy && only.weight > 0) return only;
    const good = upstreams.filter((upstream) => upstream.weight > 0 && !this.#isOff(upstream, nowMs));
    const open = good.length > 0 ? good : upstreams.filter((upstream) => upstream.weight > 0 && !this.#isClosed(upstream, nowMs));
    if (open.length === 0) return this.#pickProbed(upstreams, picking);
    const fresh = open.filter((upstream) => !triedIds.has(upstream.id));
    const candidates = fresh.length > 0 ? fresh : open;
    if (candidates.length < 2) return candidates[0];
    const tier = Math.min(...candidates.map((upstream) => upstream.tier));
    const equals = candidates.filter((upstream) => upstream.tier === tier);
    return affinity === undefined ? this.#choose(equals, nowMs) : findNearest(equals, affinity);
  }

  /** A call that was asked then is answered. That tells nothing of a rate limit that was met later. */
  recordSuccess(upstream: Upstream, requestedAtMs: number): void {
    const health = this.#health.get(upstream.revision);
    if (health === undefined || (health.reason === 'rate_limited' && health.limitedAtMs > requestedAtMs)) return;
    health.probe = undefined;
    health.requestedAtMs = Number.NEGATIVE_INFINITY;
    health.failuresInARow = 0;
    health.refusedStatus = undefined;
    health.refusalsInARow = 0;
    health.lastError = undefined;
    health.blamedCaller = undefined;
    health.offUntilMs = 0;
    health.reason = undefined;
  }

  /** This call asks it no more: if it was the probe, another one may be. */
  recordDisconnect(upstream: Upstream, call: object): void {
    const health = this.#health.get(upstream.revision);
    if (health?.probe === call) health.probe = undefined;
  }

  recordRateLimit(upstream: Upstream, error: UpstreamError, nowMs: number): void {
    const health = this.#getHealth(upstream, nowMs);
    health.offUntilMs = Math.max(health.offUntilMs, nowMs + getWaitSeconds(error, rateLimitedSeconds) * 1000);
    health.reason = 'rate_limited';
    health.limitedAtMs = nowMs;
    health.refusedStatus = 429;
  }

  /** It does not let us in, or not with what we pay: it is asked all the same, as only that tells when it does again. */
  recordRefusal(upstream: Upstream, { status }: UpstreamError, nowMs: number): void {
    if (status === undefined || !credentialRefusals.has(status)) return;
    const health = this.#getHealth(upstream, nowMs);
    if (!isSameKey(health.refusedKey, upstream.key)) health.refusalsInARow = 0;
    health.refusedStatus = status;
    health.refusalsInARow += 1;
    health.refusedKey = upstream.key;
  }

  /** Counts one failed call, however often it tried; calls that were under way when the upstream was left alone count no more. */
  recordFailure(upstream: Upstream, { nowMs, caller, message }: FailedCall): void {
    const health = this.#getHealth(upstream, nowMs);
    const isFirst = health.failuresInARow === 0;
    health.requestedAtMs = nowMs;
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

  /** Whole seconds until the first of these is asked again; at least 1. */
  retryAfterSeconds(upstreams: readonly Upstream[], nowMs: number): number {
    const soonest = Math.min(...upstreams.map((upstream) => this.#health.get(upstream.revision)?.offUntilMs ?? 0));
    return Math.max(1, Math.ceil((soonest - nowMs) / 1000));
  }

  /** Whether all of these are off for their rate limits. */
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

  #isOff({ revision }: Upstream, nowMs: number): boolean {
    const health = this.#health.get(revision);
    return health !== undefined && health.offUntilMs > nowMs;
  }

  /** Whether it is off for every caller: what one caller's requests brought about closes no deployment to others. */
  #isClosed(upstream: Upstream, nowMs: number): boolean {
    const { reason, blamedCaller: blamed } = this.#health.get(upstream.revision) ?? {};
    return this.#isOff(upstream, nowMs) && (reason === 'rate_limited' || blamed === undefined);
  }

  /** Of those that are closed to all, the one that this call may ask as a probe. */
  #pickProbed(upstreams: readonly Upstream[], { nowMs, call }: PickOptions): Upstream | undefined {
    if (call === undefined) return undefined;
    for (const upstream of upstreams.toSorted((left, right) => left.tier - right.tier)) {
      const health = this.#health.get(upstream.revision);
      if (upstream.weight === 0 || health === undefined || !isProbeDue(health, nowMs)) continue;
      health.probe = call;
      health.requestedAtMs = nowMs;
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
      health.credit += upstream.weight;
      total += upstream.weight;
      if (health.credit > bestCredit) {
        best = upstream;
        bestCredit = health.credit;
      }
    }
    if (best !== undefined) this.#getHealth(best, nowMs).credit -= total;
    return best;
  }

  #getHealth({ revision }: Upstream, nowMs: number): UpstreamHealth {
    let health = this.#health.get(revision);
    if (health === undefined) {
      this.#sweepIfDue(nowMs);
      health = { ...initialHealth };
      this.#health.set(revision, health);
    }
    health.touchedAtMs = nowMs;
    return health;
  }

  /** Runs when an upstream is added, so that the map holds only recent ones: nobody reports removed upstreams. */
  #sweepIfDue(nowMs: number): void {
    if (nowMs < this.#nextSweepMs) return;
    this.#nextSweepMs = nowMs + retentionMs;
    for (const [revision, { touchedAtMs, offUntilMs }] of this.#health)
      if (Math.max(touchedAtMs, offUntilMs) + retentionMs <= nowMs) this.#health.delete(revision);
  }
}

const initialHealth: Readonly<UpstreamHealth> = {
  touchedAtMs: 0,
  offUntilMs: 0,
  reason: undefined,
  limitedAtMs: Number.NEGATIVE_INFINITY,
  failuresInARow: 0,
  refusedStatus: undefined,
  refusalsInARow: 0,
  refusedKey: undefined,
  lastError: undefined,
  blamedCaller: undefined,
  isBlamedOnRequests: false,
  probe: undefined,
  requestedAtMs: Number.NEGATIVE_INFINITY,
  credit: 0,
};

function isProbeDue({ reason, isBlamedOnRequests: isOfRequests, probe, requestedAtMs }: UpstreamHealth, nowMs: number): boolean {
  return reason === 'failing' && isOfRequests && probe === undefined && nowMs - requestedAtMs >= probeEveryMs;
}

function findRejection({ refusedStatus, refusalsInARow, refusedKey }: UpstreamHealth, { key }: Upstream): number | undefined {
  if (refusedStatus === undefined || !credentialRefusals.has(refusedStatus) || !isSameKey(refusedKey, key)) return undefined;
  return refusedStatus === unauthorized || refusalsInARow > 1 ? refusedStatus : undefined;
}

function isSameKey(left: Secret | undefined, right: Secret | undefined): boolean {
  return left?.reveal() === right?.reveal();
}

/** Weighted rendezvous hashing: each upstream scores the affinity on its own, so that adding or removing one moves only its own calls. */
function findNearest(upstreams: readonly Upstream[], affinity: string): Upstream | undefined {
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

/** Between 0 and 1, both left out. */
function toScore(text: string): number {
  return (Number.parseInt(hash('sha256', text, 'hex').slice(0, 12), 16) + 1) / (2 ** 48 + 1);
}
