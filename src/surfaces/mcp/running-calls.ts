import { ParleyError } from '#contract/errors/errors.ts';
import type { Caller } from '#domain/callers/caller.ts';

/** Maximum length of a key that is sent to other nodes. Longer keys are not sent, because clients choose a part of the key. */
const maxAnnouncedLength = 2_000;

/** Key of a running call: caller, session, and request ID in the session. */
interface RunningCallKey {
  readonly caller: Pick<Caller, 'subject'>;
  readonly session: string | undefined;
  readonly requestId: unknown;
}

/**
 * Running calls of clients that use the 2025 revisions, which cancel a call with a notification. Clients of the stateless
 * revision close the connection instead. A node that receives the notification for a call of another node announces it.
 */
export class RunningCalls {
  readonly #controllers = new Map<string, AbortController>();
  readonly #announce: (key: string) => void;

  /** `announce` is called with the key of a canceled call that is not on this node. */
  constructor(announce: (key: string) => void) {
    this.#announce = announce;
  }

  /**
   * Runs `work` with a signal that aborts with `signal` or when the call is canceled. Resolves with undefined if the call was
   * canceled.
   */
  async run<Value>(
    running: RunningCallKey,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<Value>,
  ): Promise<Value | undefined> {
    const key = toKey(running);
    if (key === undefined) return work(signal);
    const controller = new AbortController();
    this.#controllers.set(key, controller);
    try {
      const value = await work(AbortSignal.any([signal, controller.signal]));
      return controller.signal.aborted ? undefined : value;
    } finally {
      if (this.#controllers.get(key) === controller) this.#controllers.delete(key);
    }
  }

  cancel(running: RunningCallKey): void {
    const key = toKey(running);
    if (key !== undefined && !this.cancelByKey(key) && key.length <= maxAnnouncedLength) this.#announce(key);
  }

  /** Cancels a call on this node. Returns whether there is one. */
  cancelByKey(key: string): boolean {
    const controller = this.#controllers.get(key);
    controller?.abort(new ParleyError('invalid_request', 'The client canceled the call.'));
    return controller !== undefined;
  }
}

/** Returns undefined without a session, because equal request IDs of two clients could not be distinguished. */
function toKey({ caller, session, requestId }: RunningCallKey): string | undefined {
  return session === undefined ? undefined : JSON.stringify([caller.subject, session, requestId]);
}
