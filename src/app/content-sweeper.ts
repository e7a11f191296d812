import type { Clock } from '#base/clock.ts';
import type { StoreDeps } from './stores.ts';
import { type Sweeping, sweepContents } from './sweep-contents.ts';

export interface ContentSweeperDeps extends Pick<Sweeping, 'store' | 'index'>, Pick<StoreDeps, 'note' | 'noteFault'> {
  readonly clock: Clock;
  /** Whether it is this node's turn; of nodes that share a store one is enough. Only what was written before `beforeMs` is looked at. */
  readonly isDue: (nowMs: number, beforeMs: number) => Promise<boolean>;
}

/** A day: an upload has a reservation, which protects it too. */
const ageMs = 86_400_000;
const everyMs = 86_400_000;

/** Deletes contents that no file uses, at the start and once a day. Nobody waits for it, and no fault of it ends anything. */
export class ContentSweeper {
  readonly #parts: ContentSweeperDeps;
  readonly #stop = new AbortController();

  constructor(parts: ContentSweeperDeps) {
    this.#parts = parts;
  }

  /** What it was about to do is done yet. */
  stop(): void {
    this.#stop.abort();
  }

  async run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await this.#sweep();
      await this.#parts.clock.sleep(everyMs, signal).catch(() => undefined);
    }
  }

  async #sweep(): Promise<void> {
    const { clock, isDue, note, noteFault, ...sweeping } = this.#parts;
    const { signal } = this.#stop;
    const nowMs = clock.epochMs();
    const beforeMs = nowMs - ageMs;
    try {
      if (!(await isDue(nowMs, beforeMs))) return;
      const count = await sweepContents({ ...sweeping, nowMs, beforeMs, signal });
      if (count > 0) note(`${count} contents that no file used were deleted`);
    } catch (thrown) {
      if (!signal.aborted) noteFault('contents that no file uses could not be deleted', thrown);
    }
  }
}
