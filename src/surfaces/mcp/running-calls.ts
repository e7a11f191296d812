import type { Caller } from '#domain/callers/caller.ts';

/** Names a call that runs: whose it is, in which session, and its id there. */
interface Running {
  readonly caller: Pick<Caller, 'subject'>;
  readonly session: string | undefined;
  readonly requestId: unknown;
}

/**
 * The calls of clients of the 2025 revisions: they cancel one by another request, while those of the stateless revision
 * close the connection. It ends what runs on this node; elsewhere a call runs to its end with nobody listening.
 */
export class RunningCalls {
  readonly #running = new Map<string, AbortController>();

  /** Gives the work a signal that is aborted with `signal`, and when the call is cancelled; undefined then, whatever the work gives. */
  async run<Value>(
    running: Running,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<Value>,
  ): Promise<Value | undefined> {
    const key = toKey(running);
    if (key === undefined) return work(signal);
    const controller = new AbortController();
    this.#running.set(key, controller);
    try {
      const value = await work(AbortSignal.any([signal, controller.signal]));
      return controller.signal.aborted ? undefined : value;
    } finally {
      if (this.#running.get(key) === controller) this.#running.delete(key);
    }
  }

  cancel(running: Running, reason: Error): void {
    const key = toKey(running);
    if (key !== undefined) this.#running.get(key)?.abort(reason);
  }
}

/** Without a session, nothing tells equal request ids of two clients apart. */
function toKey({ caller, session, requestId }: Running): string | undefined {
  return session === undefined ? undefined : JSON.stringify([caller.subject, session, requestId]);
}
