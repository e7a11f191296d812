/** Time limit for one server. It counts only the time that the request waits for the server. */
export interface ServerDeadline {
  /** Aborted when the server has used its full time. */
  readonly signal: AbortSignal;
  /** Stops counting permanently. */
  end(): void;
}

/**
 * The running time limits of one server. They pause while Parley waits for anything else, such as a token from another address.
 * A server counts as silent only after its full time.
 */
export class ServerDeadlines {
  readonly #running = new Set<Countdown>();
  #waits = 0;

  /** Starts a time limit in milliseconds. */
  start(timeoutMs: number): ServerDeadline {
    const countdown = new Countdown(timeoutMs);
    if (this.#waits === 0) countdown.resume();
    this.#running.add(countdown);
    const end = (): void => {
      countdown.pause();
      this.#running.delete(countdown);
    };
    return { signal: countdown.signal, end };
  }

  /** Pauses all limits while `work` runs, because the server is not responsible for its duration. */
  async pauseDuring<Value>(work: () => Promise<Value>): Promise<Value> {
    this.#waits += 1;
    for (const countdown of this.#running) countdown.pause();
    try {
      return await work();
    } finally {
      this.#waits -= 1;
      if (this.#waits === 0) for (const countdown of this.#running) countdown.resume();
    }
  }
}

class Countdown {
  readonly #ended = new AbortController();
  #remainingMs: number;
  #resumedAtMs = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(timeoutMs: number) {
    this.#remainingMs = timeoutMs;
  }

  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  resume(): void {
    this.#resumedAtMs = performance.now();
    const end = (): void => this.#ended.abort(new DOMException('The server did not answer in time.', 'TimeoutError'));
    this.#timer ??= setTimeout(end, this.#remainingMs).unref();
  }

  pause(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#remainingMs = Math.max(0, this.#remainingMs - (performance.now() - this.#resumedAtMs));
  }
}
