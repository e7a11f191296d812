import type { Clock } from '#base/clock.ts';

/** How long a call waits for others to end. */
const patienceMs = 5_000;
/** What ends on other nodes, or on other deployments, is not told here. */
const pollMs = 200;
/** More of one line are refused at once. */
const mostInLine = 1_000;

/** A call that is held up by others of its caller. */
export interface HeldUpCall<Outcome> {
  /** What its first attempt gave. */
  readonly first: Outcome;
  readonly attempt: () => Promise<Outcome>;
  /** Whether it has to wait on. */
  readonly isHeldUp: (outcome: Outcome) => boolean;
  /** False once its caller has left. */
  readonly isWanted: () => boolean;
}

interface Waiter<Outcome> extends HeldUpCall<Outcome> {
  readonly untilMs: number;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (thrown: unknown) => void;
}

interface Line<Outcome> {
  readonly waiters: Waiter<Outcome>[];
  /** Ends the pause between attempts. */
  wake: AbortController;
}

/** Calls that wait for others of the same line to end, first come, first served: one attempt at a time for a line. */
export class WaitingCalls<Outcome> {
  readonly #clock: Clock;
  readonly #lines = new Map<string, Line<Outcome>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Gives the first outcome that does not hold it up, or the last one when it has waited long enough. */
  wait(name: string, call: HeldUpCall<Outcome>): Promise<Outcome> {
    const known = this.#lines.get(name);
    const line = known ?? { waiters: [], wake: new AbortController() };
    if (line.waiters.length >= mostInLine) return Promise.resolve(call.first);
    const waiting = new Promise<Outcome>((resolve, reject) => {
      line.waiters.push({ ...call, untilMs: this.#clock.nowMs() + patienceMs, resolve, reject });
    });
    if (known === undefined) {
      this.#lines.set(name, line);
      void this.#serve(name, line);
    }
    return waiting;
  }

  /** Called when a call of the line has ended. */
  wake(name: string): void {
    this.#lines.get(name)?.wake.abort();
  }

  async #serve(name: string, line: Line<Outcome>): Promise<void> {
    while (line.waiters.length > 0) {
      await this.#clock.sleep(pollMs, line.wake.signal).catch(() => undefined);
      line.wake = new AbortController();
      while (await this.#serveFirst(line));
    }
    this.#lines.delete(name);
  }

  /** Whether the first one left the line. */
  async #serveFirst({ waiters }: Line<Outcome>): Promise<boolean> {
    const [first] = waiters;
    if (first === undefined) return false;
    try {
      const outcome = first.isWanted() ? await first.attempt() : first.first;
      if (first.isWanted() && first.isHeldUp(outcome) && this.#clock.nowMs() < first.untilMs) return false;
      first.resolve(outcome);
    } catch (thrown) {
      first.reject(thrown);
    }
    waiters.shift();
    return true;
  }
}
