import { Accumulator } from '#contract/accumulate.ts';
import type { Delta, Statistics } from '#contract/chunk.ts';
import type { Parley } from '#contract/messages/parley.ts';
import type { PingEvent } from './message-event.ts';

const maxChars = 16 * 1024 * 1024;

/** What a reply has that the dialect has no place for: sent in pings as it comes, and whole at the end. */
export class Extras {
  readonly #folded = new Accumulator();
  #chars = 0;
  #statistics: Statistics | undefined;

  add(custom: NonNullable<Delta['custom_content']>): PingEvent[] {
    this.#chars += JSON.stringify(custom).length;
    if (this.#chars <= maxChars) this.#folded.add(toChunk(custom));
    return [{ type: 'ping', parley: { custom_content: custom } }];
  }

  note(statistics: Statistics): void {
    this.#statistics = statistics;
  }

  /** The whole; without custom content if that was too much to be kept. */
  whole(): Parley {
    const custom = this.#chars <= maxChars ? this.#folded.completion().choices[0]?.message.custom_content : undefined;
    return { ...(custom && { custom_content: custom }), ...(this.#statistics && { statistics: this.#statistics }) };
  }
}

function toChunk(custom: NonNullable<Delta['custom_content']>) {
  const choices = [{ index: 0, delta: { custom_content: custom }, finish_reason: null }];
  return { id: '', object: 'chat.completion.chunk' as const, created: 0, choices };
}
