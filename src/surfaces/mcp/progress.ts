import type { Clock } from '#base/time/clock.ts';
import type { Chunk } from '#contract/chat/chunk.ts';
import type { Outlet } from './outlet.ts';

/** Text comes in many small pieces: progress is sent once a second. */
const textPaceMs = 1_000;

/** Tells a client how far its call is: each stage that begins, and how much text there is. */
export class Progress {
  readonly #token: string | number;
  readonly #outlet: Outlet;
  readonly #clock: Clock;
  #told = 0;
  #chars = 0;
  #toldTextAtMs = Number.NEGATIVE_INFINITY;

  constructor(token: string | number, outlet: Outlet, clock: Clock) {
    this.#token = token;
    this.#outlet = outlet;
    this.#clock = clock;
  }

  async note({ choices }: Chunk): Promise<void> {
    for (const { delta } of choices) {
      for (const { name } of delta?.custom_content?.stages ?? []) if (name) await this.#tell(name);
      await this.#noteText(delta?.content ?? '');
    }
  }

  async #noteText(piece: string): Promise<void> {
    this.#chars += piece.length;
    const nowMs = this.#clock.nowMs();
    if (piece === '' || nowMs - this.#toldTextAtMs < textPaceMs) return;
    this.#toldTextAtMs = nowMs;
    await this.#tell(`${this.#chars} characters`);
  }

  #tell(message: string): Promise<void> {
    this.#told += 1;
    return this.#outlet.notify('notifications/progress', { progressToken: this.#token, progress: this.#told, message });
  }
}
