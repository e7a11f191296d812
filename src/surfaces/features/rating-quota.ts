import type { BoundedCache, BoundedCacheOptions } from '#base/cache/bounded-cache.ts';
import type { Clock } from '#base/time/clock.ts';
import { ParleyError } from '#contract/errors/errors.ts';

const maxRatingsPerDay = 500;
const dayMs = 86_400_000;

interface RatingCount {
  /** Days since the epoch, in UTC. */
  readonly day: number;
  readonly count: number;
}

/** The bounds of the cache that holds the counts. */
export const ratingQuotaBounds: BoundedCacheOptions<RatingCount> = { maxBytes: 1024 ** 2, bytesOf: () => 16 };

/** Bounds how many ratings one user may give per day, so that they cannot fill the audit log. Each node counts on its own. */
export class RatingQuota {
  readonly #counts: BoundedCache<RatingCount>;
  readonly #clock: Clock;

  constructor(counts: BoundedCache<RatingCount>, clock: Clock) {
    this.#counts = counts;
    this.#clock = clock;
  }

  /** Counts one rating of a user. Throws `request_limit_exceeded` if there are too many. */
  count(subject: string): void {
    const nowMs = this.#clock.epochMs();
    const day = Math.floor(nowMs / dayMs);
    const known = this.#counts.find(subject);
    const count = known?.day === day ? known.count : 0;
    if (count >= maxRatingsPerDay) throw toRefusal((day + 1) * dayMs, nowMs);
    this.#counts.set(subject, { day, count: count + 1 });
  }
}

function toRefusal(resetsAtMs: number, nowMs: number): ParleyError {
  const at = new Date(resetsAtMs).toISOString().replace('.000Z', 'Z');
  const message = `Your limit of ${maxRatingsPerDay} ratings per day is used up; it resets at ${at}.`;
  return new ParleyError('request_limit_exceeded', message, { retryAfterSeconds: Math.ceil((resetsAtMs - nowMs) / 1000) });
}
