import { Slots, type Slotted } from '#base/time/sweep.ts';
import type { Caller } from '#domain/callers/caller.ts';

/** A call that a stop can end. */
interface InFlightCall extends Slotted {
  /** Undefined until it is known. */
  readonly caller: Caller | undefined;
  cancel(reason: unknown): void;
}

/** The calls under way on this node, so that a stop can wait for them and end what is left. */
export class InFlightCalls extends Slots<InFlightCall> {
  /** Whether new calls are refused; set by `close` alone. */
  isClosed = false;
  #onEmpty: (() => void) | undefined;

  override delete(call: InFlightCall): void {
    super.delete(call);
    if (this.#onEmpty !== undefined && this.size === 0) this.#onEmpty();
  }

  /** Refuses new calls from now on; resolves when the last one is over. */
  close(): Promise<void> {
    this.isClosed = true;
    if (this.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onEmpty = resolve;
    });
  }

  /** Ends what is still open; its callers are told the reason. */
  abort(reason: unknown): void {
    for (const call of this.slots) call?.cancel(reason);
  }

  /** The same for what was begun by callers that may not go on. */
  abortMatching(mustEnd: (caller: Caller) => boolean, reason: unknown): void {
    for (const call of this.slots) if (call?.caller !== undefined && mustEnd(call.caller)) call.cancel(reason);
  }
}
