import type { Clock } from '#base/clock.ts';
import { ParleyError } from '#contract/errors.ts';
import type { Caller } from '#domain/caller.ts';
import type { Deployment } from '#domain/deployment.ts';
import type { Directory } from '#domain/directory.ts';
import { type LimitCounters, toAccount } from '#domain/limit-counters.ts';
import { afterRequest, type Standing, toLimitHeaders, toRefusal } from '#domain/standing.ts';

export interface AdmitTools {
  readonly counters: LimitCounters;
  readonly clock: Clock;
  /** Hears of what could not be counted. */
  readonly noteFault: (message: string, thrown: unknown) => void;
}

/** What a call has used; cost in billionths of a USD. */
interface Used {
  readonly tokens: number;
  readonly cost: number;
}

/** A call within its limits. */
export interface Admission {
  /** Header fields that say what is left. */
  readonly headers: Readonly<Record<string, string>>;
  /** Counts what the call has used, once it is over; neither waits nor throws. */
  readonly charge: (used: Used) => void;
}

interface Admitting {
  readonly caller: Caller;
  readonly deployment: Deployment;
  readonly directory: Directory;
}

/** Lets a call in where its limits leave room for it, and counts it as a request. Throws the 429, or 503 where it cannot be known. */
export type Admit = (admitting: Admitting) => Promise<Admission>;

const unlimited: Admission = { headers: {}, charge() {} };

export function createAdmit(tools: AdmitTools): Admit {
  const { counters, clock, noteFault } = tools;
  return async ({ caller, deployment, directory }) => {
    const limits = directory.limits.of(caller.roles, deployment.id);
    if (limits.length === 0) return unlimited;
    const account = toAccount(caller.subject, deployment.id, limits);
    let before: readonly Standing[] = [];
    try {
      before = await counters.take(account);
    } catch (thrown) {
      noteFault('a call could not be counted', thrown);
      if (directory.configuration.limits.onStoreFailure === 'refuse') throw toUnknown(thrown);
    }
    const nowMs = clock.epochMs();
    const refusal = toRefusal(before, deployment.id, nowMs);
    if (refusal !== undefined) throw refusal;
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
