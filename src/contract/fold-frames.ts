import { Accumulator } from './accumulate.ts';
import type { Chunk, Completion } from './chunk.ts';
import { ParleyError } from './errors.ts';
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
  let bytes = 0;
  for await (const frame of frames) {
    bytes += frame.roughBytes;
    if (bytes > bound.maxBytes) throw tooLarge(bound);
    for (const chunk of frame.chunks) {
      folded.add(chunk);
      await onChunk?.(chunk);
    }
  }
  return folded.completion();
}

/** What is thrown for a reply over the bound. */
export function tooLarge({ claim }: FoldBound): ParleyError {
  return new ParleyError('upstream_failed', claim);
}
