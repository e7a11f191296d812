import { Accumulator } from './accumulate.ts';
import type { Chunk, Completion } from './chunk.ts';
import { ParleyError } from './errors.ts';
import type { Frame } from './frame.ts';

/** How much of a reply is kept where it is folded. */
interface FoldBound {
  readonly maxBytes: number;
  /** What is said of a reply that has more. */
  readonly tooLarge: string;
}

/** Of a caller that asked for one JSON text. */
export const answerBound: FoldBound = {
  maxBytes: 256 * 1024 * 1024,
  tooLarge: 'The answer is too large to be folded into one; ask for a stream.',
};

/** Of a reply that is what a tool gave. */
export const toolResultBound: FoldBound = {
  maxBytes: 64 * 1024 * 1024,
  tooLarge: 'The answer is too large for a tool result.',
};

/** The frames as they come. Throws upstream_failed where they have more bytes than that. */
export async function* withinBytes(frames: AsyncIterable<Frame>, { maxBytes, tooLarge }: FoldBound): AsyncIterable<Frame> {
  let bytes = 0;
  for await (const frame of frames) {
    bytes += frame.bytes.length;
    if (bytes > maxBytes) throw new ParleyError('upstream_failed', tooLarge);
    yield frame;
  }
}

/** The whole reply, as its chunks fold to it; `onChunk` is waited for. Throws what `withinBytes` and `Accumulator` throw. */
export async function foldFrames(
  frames: AsyncIterable<Frame>,
  bound: FoldBound,
  onChunk?: (chunk: Chunk) => Promise<void> | undefined,
): Promise<Completion> {
  const folded = new Accumulator();
  for await (const { chunks } of withinBytes(frames, bound)) {
    for (const chunk of chunks) {
      folded.add(chunk);
      await onChunk?.(chunk);
    }
  }
  return folded.completion();
}
