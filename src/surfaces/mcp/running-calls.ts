import type { Clock } from '#base/time/clock.ts';
import type { Chunk } from '#contract/chat/chunk.ts';
import type { Caller } from '#domain/callers/caller.ts';
import type { Outlet } from './outlet.ts';

/** Text comes in many small pieces: progress is sent once a second. */
const textPaceMs = 1_000;

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

/** Tells a client how far its call is: each stage that begins, and how much text there is. */
export class Progress {
  readonly #token: string | number;
  readonly #outlet: Outlet;
  readonly #clock: Clock;
  #lastProgress = 0;
  #chars = 0;
  #lastTextAtMs = Number.NEGATIVE_INFINITY;

  constructor(token: string | number, outlet: Outlet, clock: Clock) {
    this.#token = token;
    this.#outlet = outlet;
    this.#clock = clock;
  }

  async note({ choices }: Chunk): Promise<void> {
    for (const { delta } of choices) {
      for (const { name } of delta?.custom_content?.stages ?? []) if (name) await this.#notify(name);
      await this.#noteText(delta?.content ?? '');
    }
  }

  async #noteText(piece: string): Promise<void> {
    this.#chars += piece.length;
    const nowMs = this.#clock.nowMs();
    if (piece === '' || nowMs - this.#lastTextAtMs < textPaceMs) return;
    this.#lastTextAtMs = nowMs;
    await this.#notify(`${this.#chars} characters`);
  }

  #notify(message: string): Promise<void> {
    this.#lastProgress += 1;
    return this.#outlet.notify('notifications/progress', { progressToken: this.#token, progress: this.#lastProgress, message });
  }
}
