import type { Clock } from '#base/time/clock.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import type { Call, Target } from '#domain/call.ts';
import {
  type Admission,
  type CallAmounts,
  InvalidAmountError,
  type LimitCounters,
  toAccount,
} from '#domain/limits/limit-counters.ts';
import { countRequest, toLimitError, toLimitHeaders } from '#domain/limits/limit-error.ts';
import type { Claim } from '#domain/limits/limit-store.ts';
import type { CallSize, ReplySizes } from '#domain/usage/reply-sizes.ts';
import type { TokenCounts } from '#domain/usage/usage.ts';
import { computeCost } from '#domain/usage/usage.ts';

export interface ReserveLimitsDeps {
  readonly counters: LimitCounters;
  readonly sizes: ReplySizes;
  readonly clock: Clock;
  /** Called with what could not be counted. */
  readonly reportError: (message: string, error: unknown) => void;
}

/** What a call has used; cost in billionths of a USD. */
interface Used extends CallAmounts {
  /** The tokens, if the reply is whole: the next ones may be like it. */
  readonly completeUsage?: Readonly<TokenCounts>;
}

/** Properties of a call that decide which limits it counts against. */
interface LimitedCall extends Pick<Target, 'deployment' | 'limits' | 'snapshot'> {
  readonly call: Pick<Call, 'caller'>;
}

/** A call that asks for its place within limits. */
interface LimitRequest extends CallSize {
  /** False once its caller has left. */
  readonly isWanted: () => boolean;
}

/** A call within its limits. */
export interface LimitReservation {
  /** Header fields that say what is left. */
  readonly headers: Readonly<Record<string, string>>;
  /** What is reserved for it. */
  readonly claims: readonly Claim[];
  /** To be called once, when the call is over: counts what it used, nothing if undefined, and gives back what was reserved. Neither waits nor throws. Absent without limits. */
  readonly settle?: (used: Used | undefined) => void;
}

/**
 * Lets a call in if its limits leave room for it beside those under way, counts it as a request, and reserves what it may come
 * to use. Throws the 429, or 503 if it cannot be known.
 */
export type ReserveLimits = (target: LimitedCall, request: LimitRequest) => Promise<LimitReservation>;

const noClaims: readonly Claim[] = [];

const unlimited: LimitReservation = { headers: {}, claims: noClaims };
const unknown: Admission = { statuses: [], claims: { claims: noClaims, lease: '' } };
const noUsage: CallAmounts = { tokens: 0, cost: 0 };

export function createReserveLimits(deps: ReserveLimitsDeps): ReserveLimits {
  const { counters, sizes, clock, reportError } = deps;
  return async ({ call: { caller }, deployment, limits, snapshot }, request) => {
    if (limits.length === 0) return unlimited;
    const account = toAccount(caller.subject, deployment.id, limits);
    const expected = sizes.estimate(deployment, request);
    const estimate = { tokens: expected.total_tokens, cost: computeCost(deployment, expected) };
    let admission = unknown;
    try {
      admission = await counters.admit(account, {
        estimate,
        chainClaims: caller.chain?.claims ?? noClaims,
        isClientConnected: request.isWanted,
      });
    } catch (error) {
      if (error instanceof InvalidAmountError) throw error;
      reportError('a call could not be counted', error);
      if (snapshot.configuration.limits.onStoreFailure === 'refuse') throw toUnknown(error);
    }
    const { statuses, claims: leasedClaims } = admission;
    const nowMs = clock.epochMs();
    const refusal = toLimitError(statuses, deployment.id, nowMs);
    if (refusal !== undefined) {
      caller.chain?.onRefusal?.();
      throw refusal;
    }
    return {
      headers: toLimitHeaders(countRequest(statuses), nowMs),
      claims: leasedClaims.claims,
      settle(used = noUsage) {
        if (used.completeUsage !== undefined) sizes.learn(deployment, request, used.completeUsage);
        counters
          .settle(account, leasedClaims, used)
          .catch((error) => reportError('what a call used could not be counted', error));
      },
    };
  };
}

function toUnknown(cause: unknown): ParleyError {
  return new ParleyError('overloaded', 'Your limits cannot be checked at the moment; try again.', {
    cause,
    retryAfterSeconds: 1,
  });
}
