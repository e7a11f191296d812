import type { Clock } from '#base/time/clock.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { type LimitCounters, toAccount } from '#domain/limits/limit-counters.ts';
import { deploymentWindows } from '#domain/limits/windows.ts';

const maxRatingsPerDay = 500;
const limits = [{ window: deploymentWindows.requestDay, total: maxRatingsPerDay, isOverall: false }];
/** Ratings are counted on all deployments together. No deployment has an empty ID. */
const everyDeployment = '';

/** Limits how many ratings one user gives per day, on all nodes together, so that they cannot fill the audit log. */
export class RatingQuota {
  readonly #counters: LimitCounters;
  readonly #clock: Clock;

  constructor(counters: LimitCounters, clock: Clock) {
    this.#counters = counters;
    this.#clock = clock;
  }

  /** Counts one rating of a user. Rejects with `request_limit_exceeded` if there are too many. */
  async count(subject: string): Promise<void> {
    const entry = { estimate: { tokens: 0, cost: 0 }, chainClaims: [], isClientConnected: () => true };
    const { statuses } = await this.#counters.admit(toAccount(subject, everyDeployment, limits), entry);
    const [status] = statuses;
    if (status === undefined || status.used < maxRatingsPerDay) return;
    const at = new Date(status.resetsAtMs).toISOString().replace('.000Z', 'Z');
    const message = `Your limit of ${maxRatingsPerDay} ratings per day is used up. It resets at ${at}.`;
    const retryAfterSeconds = Math.ceil((status.resetsAtMs - this.#clock.epochMs()) / 1000);
    throw new ParleyError('request_limit_exceeded', message, { retryAfterSeconds });
  }
}
