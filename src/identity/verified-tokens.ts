import type { BoundedCache, BoundedCacheOptions } from '#base/bounded-cache.ts';
import type { Clock } from '#base/clock.ts';
import type { Caller } from '#domain/callers/caller.ts';

const longestMs = 60_000;
/** Of a caller beside its words. */
const callerBytes = 400;

export interface VerifiedToken {
  readonly caller: Caller;
  readonly untilMs: number;
}

/** The cache that verified tokens lie in. */
export const verifiedTokenBounds: BoundedCacheOptions<VerifiedToken> = {
  maxBytes: 8 * 1024 ** 2,
  bytesOf: ({ caller: { subject, project, roles } }) =>
    roles.reduce((sum, role) => sum + role.length, callerBytes + subject.length + project.length),
};

/** Whom tokens stand for that were verified a moment ago, by a digest of the whole token; those asked for last are kept. */
export class VerifiedTokens {
  readonly #callers: BoundedCache<VerifiedToken>;
  readonly #clock: Clock;

  constructor(callers: BoundedCache<VerifiedToken>, clock: Clock) {
    this.#callers = callers;
    this.#clock = clock;
  }

  find(digest: string): Caller | undefined {
    const found = this.#callers.find(digest);
    if (found === undefined || found.untilMs > this.#clock.nowMs()) return found?.caller;
    this.#callers.delete(digest);
    return undefined;
  }

  /** Keeps one for a minute, or for what is left of its life if that is less. */
  keep(digest: string, caller: Caller, leftMs: number): void {
    if (leftMs <= 0) return;
    this.#callers.set(digest, { caller, untilMs: this.#clock.nowMs() + Math.min(longestMs, leftMs) });
  }
}
