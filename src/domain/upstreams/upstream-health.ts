import type { Secret } from '#base/secrets/secret.ts';
import type { Upstream, UpstreamQuota } from './upstream.ts';

/** Pause after a 429 without Retry-After. */
export const defaultPauseSeconds = 30;
/** Maximum for a Retry-After from an upstream, because another attempt costs little. */
const maxRateLimitPauseSeconds = 60;
/** First pause of an upstream that fails, and minimum pause without remaining quota. Each further failure doubles it. */
export const minPauseMs = 1_000;
const maxFailurePauseMs = 300_000;
/** Minimum time between two attempts at a paused upstream. */
const probeIntervalMs = 1_000;

/** Share of its weight that an upstream without remaining quota keeps. */
const minShare = 0.05;
/** Remaining share of a quota above which the weight does not decrease. */
export const ampleShare = 0.5;

const unauthorized = 401;

/** Returns whether a status concerns credentials, payment, or rights. Only the operator can resolve these. */
export function isCredentialStatus(status: number | undefined): status is number {
  return status === unauthorized || status === 402 || status === 403;
}

/** A failed call. */
export interface FailedCall {
  readonly nowMs: number;
  /** Subject of the user whose request may be the cause. Undefined if no request can be the cause. */
  readonly caller: string | undefined;
  /** Reason for the failure, without addresses. Undefined if the upstream wrote it, because it may quote content. */
  readonly message?: string | undefined;
}

type PauseReason = 'rate_limited' | 'failing';

/** Health of an upstream, measured by the calls of this node. All times are milliseconds of one clock. */
export class UpstreamHealth {
  updatedAtMs = 0;
  /** State of the smooth weighted round-robin. */
  credit = 0;
  pausedUntilMs = 0;
  failuresInARow = 0;
  /** Last status 401, 402, 403, or 429. Undefined after a successful call or another failed call. */
  refusedStatus: number | undefined;
  /** Reason why the last failed call had no connection or no response. Undefined after a successful call. */
  lastError: string | undefined;
  #pauseReason: PauseReason | undefined;
  #rateLimitedAtMs = Number.NEGATIVE_INFINITY;
  /** Time of the last failure or of the last probe. */
  #lastAttemptAtMs = Number.NEGATIVE_INFINITY;
  /** Rejections of Parley's credentials since the last successful call. */
  #rejectionsInARow = 0;
  #rejectedKey: Secret | undefined;
  /** The only caller of the consecutive failures. Undefined if there are several callers, or if no request can be the cause. */
  #blamedCaller: string | undefined;
  /** Whether a request may have caused each of the consecutive failures. */
  #isBlamedOnRequests = false;
  /** Call that tries the upstream during its pause. */
  #probe: object | undefined;
  /** The last reported quota, and the time of the report. */
  #quota: (UpstreamQuota & { readonly atMs: number }) | undefined;

  isPaused(nowMs: number): boolean {
    return this.pausedUntilMs > nowMs;
  }

  /**
   * Whether no call may use the upstream, apart from probes. If a single caller may have caused the failures, the upstream remains
   * a last resort for all callers.
   */
  isPausedForAll(nowMs: number): boolean {
    return this.isPaused(nowMs) && (this.#pauseReason === 'rate_limited' || this.#blamedCaller === undefined);
  }

  getPauseReason(nowMs: number): PauseReason | undefined {
    return this.isPaused(nowMs) ? this.#pauseReason : undefined;
  }

  /** Records a successful call. Keeps the pause of a rate limit that occurred after the call started. */
  recordSuccess(requestedAtMs: number): void {
    this.#probe = undefined;
    if (this.#pauseReason === 'rate_limited' && this.#rateLimitedAtMs > requestedAtMs) return;
    this.pausedUntilMs = 0;
    this.failuresInARow = 0;
    this.refusedStatus = undefined;
    this.lastError = undefined;
    this.#pauseReason = undefined;
    this.#lastAttemptAtMs = Number.NEGATIVE_INFINITY;
    this.#rejectionsInARow = 0;
    this.#blamedCaller = undefined;
  }

  pauseForRateLimit(pauseMs: number, nowMs: number): void {
    this.pausedUntilMs = Math.max(this.pausedUntilMs, nowMs + Math.min(pauseMs, maxRateLimitPauseSeconds * 1000));
    this.refusedStatus = 429;
    this.#pauseReason = 'rate_limited';
    this.#rateLimitedAtMs = nowMs;
  }

  /** Counts a failed call, unless the upstream is paused, and pauses the upstream from the second failure in a row on. */
  recordFailure({ nowMs, caller, message }: FailedCall): void {
    const isFirst = this.failuresInARow === 0;
    this.refusedStatus = undefined;
    this.lastError = message;
    this.#lastAttemptAtMs = nowMs;
    this.#isBlamedOnRequests = caller !== undefined && (isFirst || this.#isBlamedOnRequests);
    if (isFirst) this.#blamedCaller = caller;
    else if (this.#blamedCaller !== caller) this.#blamedCaller = undefined;
    if (this.isPaused(nowMs)) return;
    this.failuresInARow += 1;
    if (this.failuresInARow < 2) return;
    this.pausedUntilMs = nowMs + Math.min(maxFailurePauseMs, minPauseMs * 2 ** (this.failuresInARow - 2));
    this.#pauseReason = 'failing';
  }

  /** Records a response with a status of `isCredentialStatus`. */
  recordRejection(status: number, key: Upstream['key']): void {
    if (!isSameKey(this.#rejectedKey, key)) this.#rejectionsInARow = 0;
    this.refusedStatus = status;
    this.#rejectionsInARow += 1;
    this.#rejectedKey = key;
  }

  /**
   * Returns the status of the last response if it rejects this key. A 402 or 403 counts only after another rejection, because the
   * content of one request can cause it.
   */
  findRejection(key: Upstream['key']): number | undefined {
    const status = this.refusedStatus;
    if (!isCredentialStatus(status) || !isSameKey(this.#rejectedKey, key)) return undefined;
    return status === unauthorized || this.#rejectionsInARow > 1 ? status : undefined;
  }

  /**
   * Makes the call the probe of an upstream that fails, if one is due. Only failures that requests may have caused allow a
   * probe.
   */
  startProbe(call: object, nowMs: number): boolean {
    const isPossible = this.#pauseReason === 'failing' && this.#isBlamedOnRequests && this.#probe === undefined;
    if (!isPossible || nowMs - this.#lastAttemptAtMs < probeIntervalMs) return false;
    this.#probe = call;
    this.#lastAttemptAtMs = nowMs;
    return true;
  }

  /** Ends the probe of a call that no longer uses the upstream, so that another call can be the next probe. */
  endProbe(call: object): void {
    if (this.#probe === call) this.#probe = undefined;
  }

  recordQuota(quota: UpstreamQuota, nowMs: number): void {
    this.#quota = { ...quota, atMs: nowMs };
  }

  /** Returns the factor for the weight, from `minShare` to 1. The quota is assumed to refill evenly until the reset. */
  computeShare(nowMs: number): number {
    if (this.#quota === undefined) return 1;
    const { remainingShare, resetMs, atMs } = this.#quota;
    const elapsedMs = nowMs - atMs;
    if (elapsedMs >= resetMs) return 1;
    const share = remainingShare + ((1 - remainingShare) * elapsedMs) / resetMs;
    return share >= ampleShare ? 1 : Math.max(minShare, share / ampleShare);
  }
}

function isSameKey(left: Secret | undefined, right: Secret | undefined): boolean {
  return left?.reveal() === right?.reveal();
}
