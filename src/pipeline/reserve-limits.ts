import type { Clock } from '#base/time/clock.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import type { Call, Target } from '#domain/call.ts';
import {
  type CallAmounts,
  InvalidAmountError,
  type LimitCounters,
  type Taken,
  toAccount,
} from '#domain/limits/limit-counters.ts';
import { afterRequest, toLimitHeaders, toRefusal } from '#domain/limits/limit-refusal.ts';
import type { Claim } from '#domain/limits/limit-store.ts';
import type { CallSize, ReplySizes } from '#domain/usage/reply-sizes.ts';
import type { TokenCounts } from '#domain/usage/usage.ts';
import { costOf } from '#domain/usage/usage.ts';

export interface ReserveLimitsDeps {
  readonly counters: LimitCounters;
  readonly sizes: ReplySizes;
  readonly clock: Clock;
  /** Called with what could not be counted. */
  readonly noteFault: (message: string, thrown: unknown) => void;
}

/** What a call has used; cost in billionths of a USD. */
interface Used extends CallAmounts {
  /** The tokens, if the reply is whole: the next ones may be like it. */
  readonly whole?: Readonly<TokenCounts>;
}

/** Properties of a call that decide which limits it counts against. */
interface LimitedCall extends Pick<Target, 'deployment' | 'limits' | 'snapshot'> {
  readonly call: Pick<Call, 'caller'>;
}

/** A call that asks for its place within limits. */
interface LimitAsk extends CallSize {
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
export type ReserveLimits = (target: LimitedCall, asking: LimitAsk) => Promise<LimitReservation>;

const noClaims: readonly Claim[] = [];

const unlimited: LimitReservation = { headers: {}, claims: noClaims };
const unknown: Taken = { statuses: [], made: { claims: noClaims, lease: '' } };
const nothing: CallAmounts = { tokens: 0, cost: 0 };

export function createReserveLimits(deps: ReserveLimitsDeps): ReserveLimits {
  const { counters, sizes, clock, noteFault } = deps;
  return async ({ call: { caller }, deployment, limits, snapshot }, asking) => {
    if (limits.length === 0) return unlimited;
    const account = toAccount(caller.subject, deployment.id, limits);
    const expected = sizes.of(deployment, asking);
    const estimate = { tokens: expected.total_tokens, cost: costOf(deployment, expected) };
    let taken = unknown;
    try {
      taken = await counters.take(account, { estimate, held: caller.chain?.claims ?? noClaims, isWanted: asking.isWanted });
    } catch (thrown) {
      if (thrown instanceof InvalidAmountError) throw thrown;
      noteFault('a call could not be counted', thrown);
      if (snapshot.configuration.limits.onStoreFailure === 'refuse') throw toUnknown(thrown);
    }
    const { statuses, made } = taken;
    const nowMs = clock.epochMs();
    const refusal = toRefusal(statuses, deployment.id, nowMs);
    if (refusal !== undefined) {
      caller.chain?.noteRefusal?.();
      throw refusal;
    }
    return {
      headers: toLimitHeaders(afterRequest(statuses), nowMs),
      claims: made.claims,
      settle(used = nothing) {
        if (used.whole !== undefined) sizes.learn(deployment, asking, used.whole);
        counters.settle(account, made, used).catch((thrown) => noteFault('what a call used could not be counted', thrown));
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
