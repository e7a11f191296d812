/** The calls under way on this node, so that a stop can wait for them and end what is left. */
export class InFlightCalls {
  readonly #open = new Set<AbortController>();
  #isClosed = false;
  #onEmpty: (() => void) | undefined;

  get size(): number {
    return this.#open.size;
  }

  /** Whether new calls are refused. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  enter(controller: AbortController): void {
    this.#open.add(controller);
  }

  leave(controller: AbortController): void {
    this.#open.delete(controller);
    if (this.#open.size === 0) this.#onEmpty?.();
  }

  /** Refuses new calls from now on; resolves when the last one has left. */
  close(): Promise<void> {
    this.#isClosed = true;
    if (this.#open.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onEmpty = resolve;
    });
  }

  /** Aborts what is still open; its callers are told the reason. */
  abort(reason: unknown): void {
    for (const controller of [...this.#open]) controller.abort(reason);
  }
}
