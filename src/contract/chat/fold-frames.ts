import { ParleyError } from '../errors/errors.ts';
import type { Chunk, Completion } from './chunk.ts';
import { ChunkFold } from './chunk-fold.ts';
import type { Frame } from './frame.ts';

/** How much of a reply is kept if it is folded. */
interface FoldBound {
  readonly maxBytes: number;
  /** What is said of a reply that has more. */
  readonly claim: string;
}

/** Of a caller that asked for one JSON text. */
export const answerBound: FoldBound = {
  maxBytes: 256 * 1024 * 1024,
  claim: 'The answer is too large to be folded into one; ask for a stream.',
};

/** Of a reply that is what a tool gave. */
export const toolResultBound: FoldBound = {
  maxBytes: 64 * 1024 * 1024,
  claim: 'The answer is too large for a tool result.',
};

/** The whole reply, as its chunks fold to it; `onChunk` is waited for. Throws upstream_failed for a reply over the bound, and what `Accumulator` throws. */
export async function foldFrames(
  frames: AsyncIterable<Frame>,
  bound: FoldBound,
  onChunk?: (chunk: Chunk) => Promise<void> | undefined,
): Promise<Completion> {
  const folded = new Accumulator();
  const budget = new FoldRoom(bound);
  for await (const frame of frames) {
    budget.consume(frame);
    for (const chunk of frame.chunks) {
      folded.add(chunk);
      await onChunk?.(chunk);
    }
  }
  return folded.completion();
}

/** Counts what of a reply is kept. */
export class FoldRoom {
  readonly #bound: FoldBound;
  #bytes = 0;

  constructor(bound: FoldBound) {
    this.#bound = bound;
  }

  /** Throws upstream_failed once the reply is over the bound. */
  consume({ roughBytes }: Frame): void {
    this.#bytes += roughBytes;
    if (this.#bytes > this.#bound.maxBytes) throw new ParleyError('upstream_failed', this.#bound.claim);
  }
}

/** Folds the chunks of a reply to the whole reply, and throws upstream_failed for one that cannot be folded. */
export class Accumulator extends ChunkFold {
  constructor() {
    super((message) => new ParleyError('upstream_failed', message));
  }
}
