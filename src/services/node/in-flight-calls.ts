import { type SlotItem, Slots } from '#base/time/sweep.ts';
import type { Caller } from '#domain/callers/caller.ts';

/** A call in progress that this node can cancel. */
interface InFlightCall extends SlotItem {
  /** Undefined until the caller is known. */
  readonly caller: Caller | undefined;
  cancel(reason: unknown): void;
}

/** Calls in progress on this node. A shutdown waits for them and cancels the remaining ones. */
export class InFlightCalls extends Slots<InFlightCall> {
  /** Whether new calls are rejected. Only `close` sets it. */
  isClosed = false;
  #onEmpty: (() => void) | undefined;

  override delete(call: InFlightCall): void {
    super.delete(call);
    if (this.#onEmpty !== undefined && this.size === 0) this.#onEmpty();
  }

  /** Rejects new calls from now on. Resolves when the last call has ended. */
  close(): Promise<void> {
    this.isClosed = true;
    if (this.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onEmpty = resolve;
    });
  }

  /** Cancels all remaining calls. Their clients receive the reason. */
  abort(reason: unknown): void {
    for (const call of this.slots) call?.cancel(reason);
  }

  /** Cancels each call if `mustEnd` returns true for its caller. */
  abortMatching(mustEnd: (caller: Caller) => boolean, reason: unknown): void {
    for (const call of this.slots) if (call?.caller !== undefined && mustEnd(call.caller)) call.cancel(reason);
  }
}
