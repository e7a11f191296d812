import { IsolationError } from './isolated-process.ts';

interface FairQueueOptions {
  /** Maximum number of tasks that run concurrently. Each owner has at most one running task. */
  readonly slots: number;
  /** Maximum number of waiting tasks per owner. Default: no limit. */
  readonly maxWaiting?: number;
}

/** Queue for expensive work. Runs at most one task per owner at a time, and owners take turns. */
export class FairQueue {
  readonly #slots: number;
  readonly #maxWaiting: number;
  /** Waiting tasks by owner. The owner whose turn is next comes first. */
  readonly #waiting = new Map<string, (() => void)[]>();
  readonly #running = new Set<string>();

  constructor({ slots, maxWaiting = Number.POSITIVE_INFINITY }: FairQueueOptions) {
    this.#slots = slots;
    this.#maxWaiting = maxWaiting;
  }

  /**
   * Runs the work when its turn comes and returns its result. Throws `IsolationError` `busy` if too many tasks of the owner wait,
   * and the signal's reason if it is aborted before its turn.
   */
  async run<Value>(owner: string, work: () => Promise<Value>, signal?: AbortSignal): Promise<Value> {
    await this.#waitForTurn(owner, signal);
    try {
      return await work();
    } finally {
      this.#release(owner);
    }
  }

  /** Moves the owner to the end of the order. */
  #release(owner: string): void {
    this.#running.delete(owner);
    const queue = this.#waiting.get(owner);
    this.#waiting.delete(owner);
    if (queue !== undefined) this.#waiting.set(owner, queue);
    this.#startNext();
  }

  #waitForTurn(owner: string, signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    const queue = this.#waiting.get(owner) ?? [];
    if (queue.length >= this.#maxWaiting)
      throw new IsolationError('busy', `${this.#maxWaiting} documents of this user are already waiting. Try again later`);
    this.#waiting.set(owner, queue);
    return new Promise((resolve, reject) => {
      const start = (): void => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      };
      const onAbort = (): void => {
        queue.splice(queue.indexOf(start), 1);
        if (queue.length === 0) this.#waiting.delete(owner);
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      queue.push(start);
      this.#startNext();
    });
  }

  #startNext(): void {
    for (const [owner, queue] of this.#waiting) {
      if (this.#running.size >= this.#slots) return;
      if (this.#running.has(owner)) continue;
      const start = queue.shift();
      if (queue.length === 0) this.#waiting.delete(owner);
      this.#running.add(owner);
      start?.();
    }
  }
}

/** Limits the concurrent tasks of each owner. Rejects tasks above the limit. */
export class OwnerSlots {
  readonly #slots: number;
  readonly #createError: () => Error;
  readonly #used = new Map<string, number>();

  /** `slots` is the maximum number of concurrent tasks of an owner. */
  constructor(slots: number, createError: () => Error) {
    this.#slots = slots;
    this.#createError = createError;
  }

  /** Runs the work and returns its result. Throws the error of `createError`, without running the work, if no slot is free. */
  async run<Value>(owner: string, work: () => Promise<Value>): Promise<Value> {
    const used = this.#used.get(owner) ?? 0;
    if (used >= this.#slots) throw this.#createError();
    this.#used.set(owner, used + 1);
    try {
      return await work();
    } finally {
      const remaining = (this.#used.get(owner) ?? 1) - 1;
      if (remaining === 0) this.#used.delete(owner);
      else this.#used.set(owner, remaining);
    }
  }
}
