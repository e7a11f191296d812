interface Waiter {
  readonly worker: number;
  readonly onAcquired: () => void;
}

/** FIFO lock that the workers of a node and the primary process share. A worker that ends loses it. */
export class WriteLock {
  readonly #queue: Waiter[] = [];

  /** Resolves when the worker has the lock. */
  acquire(worker: number): Promise<void> {
    return new Promise((resolve) => {
      this.#queue.push({ worker, onAcquired: resolve });
      if (this.#queue.length === 1) resolve();
    });
  }

  /** Releases the lock if the worker has it. */
  release(worker: number): void {
    if (this.#queue[0]?.worker !== worker) return;
    this.#queue.shift();
    this.#queue[0]?.onAcquired();
  }

  /** Removes a worker that has ended. */
  remove(worker: number): void {
    const holder = this.#queue[0];
    const remaining = this.#queue.filter((waiter) => waiter.worker !== worker);
    this.#queue.splice(0, this.#queue.length, ...remaining);
    if (holder?.worker === worker) this.#queue[0]?.onAcquired();
  }
}
