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

/** Limits an amount for each owner, such as concurrent tasks or bytes. The first amount of an owner may exceed the limit. */
export class OwnerQuota {
  readonly #max: number;
  readonly #createError: () => Error;
  readonly #used = new Map<string, number>();

  constructor(max: number, createError: () => Error) {
    this.#max = max;
    this.#createError = createError;
  }

  /** Takes an amount, and returns a function that releases it. Throws the error of `createError` if the owner holds too much. */
  take(owner: string, amount: number): () => void {
    const used = this.#used.get(owner) ?? 0;
    if (used > 0 && used + amount > this.#max) throw this.#createError();
    this.#used.set(owner, used + amount);
    return () => {
      const remaining = (this.#used.get(owner) ?? 0) - amount;
      if (remaining > 0) this.#used.set(owner, remaining);
      else this.#used.delete(owner);
    };
  }

  /** Runs a task, which counts as 1, and returns its result. Throws the error of `createError` instead if too many are running. */
  async run<Value>(owner: string, work: () => Promise<Value>): Promise<Value> {
    const release = this.take(owner, 1);
    try {
      return await work();
    } finally {
      release();
    }
  }
}
