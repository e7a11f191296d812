import type { Clock } from '#base/time/clock.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import type { Call, Target } from '#domain/calls/call.ts';
import { type Admission, type CallAmounts, InvalidAmountError, type LimitCounters } from '#domain/limits/limit-counters.ts';
import { countRequest, toLimitError, toLimitHeaders } from '#domain/limits/limit-status.ts';
import type { Claim } from '#domain/limits/limit-store.ts';
import type { CallSize, ReplySizes } from '#domain/usage/reply-sizes.ts';
import { computeCost, type TokenCounts } from '#domain/usage/usage.ts';

/** Dependencies of `createReserveQuota`. */
export interface ReserveQuotaDeps {
  readonly counters: LimitCounters;
  readonly sizes: ReplySizes;
  readonly clock: Clock;
  /** Called if a call or its usage could not be counted. */
  readonly reportError: (message: string, error: unknown) => void;
}

/** Usage of a call. The cost is in billionths of a USD. */
interface CallUsage extends CallAmounts {
  /** The tokens of a complete reply. They improve the estimates of later calls. */
  readonly completeUsage?: Readonly<TokenCounts>;
}

/** Properties of a call that decide which limits it counts against. */
interface LimitedCall extends Pick<Target, 'deployment' | 'limitAccount' | 'snapshot'> {
  readonly call: Pick<Call, 'caller' | 'draft'>;
}

/** A request to reserve quota for a call. */
interface QuotaRequest extends CallSize {
  /** Returns false after the client has disconnected. */
  readonly isClientConnected: () => boolean;
}

/** The reservation of an admitted call. */
export interface QuotaReservation {
  /** Headers with the remaining limits. */
  readonly headers: Readonly<Record<string, string>>;
  /** Reserved amounts. */
  readonly claims: readonly Claim[];
  /**
   * Counts the usage of the call, or 0 if `used` is undefined, and releases the reservation. Must be called once, when the call
   * ends. Neither waits nor throws. Undefined if there are no limits.
   */
  readonly settle?: (used: CallUsage | undefined) => void;
}

/**
 * Admits a call if its limits have capacity beyond the reservations of the calls in progress. Counts it as a request, and
 * reserves its estimated usage. Rejects with status 429 if a limit is reached. Rejects with status 503 if the limits cannot be
 * checked and `limits.onStoreFailure` is `refuse`.
 */
export type ReserveQuota = (target: LimitedCall, request: QuotaRequest) => Promise<QuotaReservation>;

const noClaims: readonly Claim[] = [];

const unlimited: QuotaReservation = { headers: {}, claims: noClaims };
const uncheckedAdmission: Admission = { statuses: [], leasedClaims: { claims: noClaims, lease: '' }, startedAtMs: 0 };
const noUsage: CallAmounts = { tokens: 0, cost: 0 };

export function createReserveQuota(deps: ReserveQuotaDeps): ReserveQuota {
  const { counters, sizes, clock, reportError } = deps;
  return async ({ call: { caller, draft }, deployment, limitAccount, snapshot }, request) => {
    if (limitAccount.limits.length === 0) return unlimited;
    const expected = sizes.estimate(deployment, request);
    const estimate = { tokens: expected.total_tokens, cost: computeCost(deployment, expected) };
    let admission = uncheckedAdmission;
    try {
      admission = await counters.admit(limitAccount, {
        estimate,
        chainClaims: caller.chain?.claims ?? noClaims,
        isClientConnected: request.isClientConnected,
      });
    } catch (error) {
      if (error instanceof InvalidAmountError) throw error;
      reportError('could not count a call against its limits', error);
      if (snapshot.configuration.limits.onStoreFailure === 'refuse') throw createUncheckedError(error);
    }
    const { statuses, leasedClaims } = admission;
    const nowMs = clock.epochMs();
    const limitError = toLimitError(statuses, deployment.id, nowMs);
    if (limitError !== undefined) {
      caller.chain?.onRejection?.();
      throw limitError;
    }
    return {
      headers: toLimitHeaders(countRequest(statuses), nowMs),
      claims: leasedClaims.claims,
      settle(used = noUsage) {
        if (used.completeUsage !== undefined && draft === undefined) sizes.learn(deployment, request, used.completeUsage);
        counters
          .settle(limitAccount, admission, used)
          .catch((error) => reportError('could not count the usage of a call', error));
      },
    };
  };
}

function createUncheckedError(cause: unknown): ParleyError {
  return new ParleyError('overloaded', 'Your limits cannot be checked at the moment. Try again.', {
    cause,
    retryAfterSeconds: 1,
  });
}
