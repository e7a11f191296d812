import type { Clock } from '#base/clock.ts';
import type { Caller } from '#domain/callers/caller.ts';

const longestMs = 60_000;
const maxTokens = 10_000;

/** Whom tokens stand for that were verified a moment ago, by a digest of the whole token; those asked for last are kept. */
export class VerifiedTokens {
  readonly #callers = new Map<string, { readonly caller: Caller; readonly untilMs: number }>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  find(digest: string): Caller | undefined {
    const found = this.#callers.get(digest);
    if (found === undefined) return undefined;
    this.#callers.delete(digest);
    if (found.untilMs <= this.#clock.nowMs()) return undefined;
    this.#callers.set(digest, found);
    return found.caller;
  }

  /** Keeps one for a minute, or for what is left of its life if that is less. */
  keep(digest: string, caller: Caller, leftMs: number): void {
    if (leftMs <= 0) return;
    this.#callers.set(digest, { caller, untilMs: this.#clock.nowMs() + Math.min(longestMs, leftMs) });
    const [oldest] = this.#callers.keys();
    if (this.#callers.size > maxTokens && oldest !== undefined) this.#callers.delete(oldest);
  }
}
