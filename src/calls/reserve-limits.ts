import type { Clock } from '#base/clock.ts';
import { ParleyError } from '#contract/errors.ts';
import type { Target } from '#domain/call.ts';
import { type LimitCounters, toAccount } from '#domain/limits/limit-counters.ts';
import { afterRequest, type LimitStatus, toLimitHeaders, toRefusal } from '#domain/limits/limit-refusal.ts';

export interface ReserveLimitsDeps {
  readonly counters: LimitCounters;
  readonly clock: Clock;
  /** Called with what could not be counted. */
  readonly noteFault: (message: string, thrown: unknown) => void;
}

/** What a call has used; cost in billionths of a USD. */
interface Used {
  readonly tokens: number;
  readonly cost: number;
}

/** A call within its limits. */
export interface LimitReservation {
  /** Header fields that say what is left. */
  readonly headers: Readonly<Record<string, string>>;
  /** Counts what the call has used, once it is over; neither waits nor throws. */
  readonly charge: (used: Used) => void;
}

/** Lets a call in if its limits leave room for it, and counts it as a request. Throws the 429, or 503 if it cannot be known. */
export type ReserveLimits = (target: Target) => Promise<LimitReservation>;

const unlimited: LimitReservation = { headers: {}, charge() {} };

export function createReserveLimits(deps: ReserveLimitsDeps): ReserveLimits {
  const { counters, clock, noteFault } = deps;
  return async ({ call: { caller }, deployment, snapshot }) => {
    const limits = snapshot.limits.of(caller.roles, deployment.id);
    if (limits.length === 0) return unlimited;
    const account = toAccount(caller.subject, deployment.id, limits);
    let before: readonly LimitStatus[] = [];
    try {
      before = await counters.take(account);
    } catch (thrown) {
      noteFault('a call could not be counted', thrown);
      if (snapshot.configuration.limits.onStoreFailure === 'refuse') throw toUnknown(thrown);
    }
    const nowMs = clock.epochMs();
    const refusal = toRefusal(before, deployment.id, nowMs);
    if (refusal !== undefined) {
      caller.chain?.noteRefusal?.();
      throw refusal;
    }
    return {
      headers: toLimitHeaders(afterRequest(before), nowMs),
      charge(used) {
        counters.charge(account, used).catch((thrown) => noteFault('what a call used could not be counted', thrown));
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
