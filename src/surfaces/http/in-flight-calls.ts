import { Slots, type Slotted } from '#base/slots.ts';

/** A call that a stop can end. */
interface InFlightCall extends Slotted {
  cancel(reason: unknown): void;
}

/** The calls under way on this node, so that a stop can wait for them and end what is left. */
export class InFlightCalls {
  readonly #calls = new Slots<InFlightCall>();
  /** Whether new calls are refused; set by `close` alone. */
  isClosed = false;
  #onEmpty: (() => void) | undefined;

  get size(): number {
    return this.#calls.size;
  }

  enter(call: InFlightCall): void {
    this.#calls.add(call);
  }

  leave(call: InFlightCall): void {
    this.#calls.delete(call);
    if (this.#onEmpty !== undefined && this.#calls.size === 0) this.#onEmpty();
  }

  /** Refuses new calls from now on; resolves when the last one has left. */
  close(): Promise<void> {
    this.isClosed = true;
    if (this.#calls.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onEmpty = resolve;
    });
  }

  /** Ends what is still open; its callers are told the reason. */
  abort(reason: unknown): void {
    for (const call of this.#calls.places) call?.cancel(reason);
  }
}
