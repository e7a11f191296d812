import type { Sink } from '#base/stream/sink.ts';
import type { Chunk, RawChunk } from '#contract/chat/chunk.ts';
import { Frame, type RawFrame } from '#contract/chat/frame.ts';
import { toWellFormedChunk } from '#contract/chat/well-formed.ts';
import { type CallContext, ReplyCalls } from './reply-calls.ts';

/** Defaults for a missing ID and creation time. `NormalizedReply` replaces them. */
const emptyHead = { id: '', created: 0 };

/**
 * Repairs the calls and finish reasons of a reply (`ReplyCalls`) for consumers that read it before `NormalizedReply`: tool
 * loops and the conversion to function calls. Frames that need no repair pass unchanged.
 */
export class NormalizedCalls implements Sink<RawFrame> {
  readonly #calls: ReplyCalls;
  readonly #next: Sink<Frame>;

  constructor(context: CallContext, next: Sink<Frame>) {
    this.#calls = new ReplyCalls(context);
    this.#next = next;
  }

  /** Throws `UpstreamError` for calls that cannot be repaired. */
  push(frame: RawFrame): void {
    if (frame.native !== undefined || frame.textBytes !== undefined) return this.#next.push(frame as Frame);
    const chunks = frame.chunks.map((chunk) => this.#normalize(chunk));
    const isSame = chunks.every((chunk, index) => chunk === frame.chunks[index]);
    this.#next.push(isSame ? (frame as Frame) : Frame.ofChunks(...chunks));
  }

  end(): void {
    this.#next.end();
  }

  fail(error: unknown): void {
    this.#next.fail(error);
  }

  #normalize(rawChunk: RawChunk): Chunk {
    const chunk = toWellFormedChunk(rawChunk, emptyHead);
    const choices = chunk.choices.map((choice) => this.#calls.normalizeChoice(choice));
    return choices.every((choice, index) => choice === chunk.choices[index]) ? chunk : { ...chunk, choices };
  }
}
