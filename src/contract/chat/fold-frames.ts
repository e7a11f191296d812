import { ParleyError } from '../errors/errors.ts';
import type { Chunk, Completion, ResponseCustomContent } from './chunk.ts';
import { ChunkFold } from './chunk-fold.ts';
import type { Frame } from './frame.ts';

/** Maximum size of a folded reply. */
interface FoldBound {
  readonly maxBytes: number;
  /** Error message for a larger reply. */
  readonly message: string;
}

/** Limit for a client that requested a single JSON text. */
export const answerBound: FoldBound = {
  maxBytes: 256 * 1024 * 1024,
  message: 'The reply is too large for a single JSON response. Request a stream.',
};

/** Limit for a reply that is the result of a tool call. */
export const toolResultBound: FoldBound = {
  maxBytes: 64 * 1024 * 1024,
  message: 'The answer is too large for a tool result.',
};

/**
 * Folds frames into the complete reply. Awaits `onChunk` for each chunk. Throws `upstream_failed` if the reply exceeds the bound,
 * and rethrows errors of `Accumulator`.
 */
export async function foldFrames(
  frames: AsyncIterable<Frame>,
  bound: FoldBound,
  onChunk?: (chunk: Chunk) => Promise<void> | undefined,
): Promise<Completion> {
  const folded = new Accumulator();
  const limit = new FoldLimit(bound);
  for await (const frame of frames) {
    limit.consume(frame);
    for (const chunk of frame.chunks) {
      folded.add(chunk);
      await onChunk?.(chunk);
    }
  }
  return folded.getCompletion();
}

/** Counts the bytes of a reply. */
export class FoldLimit {
  readonly #bound: FoldBound;
  #bytes = 0;

  constructor(bound: FoldBound) {
    this.#bound = bound;
  }

  /** Throws `upstream_failed` if the reply exceeds the bound. */
  consume({ roughBytes }: Frame): void {
    this.#bytes += roughBytes;
    if (this.#bytes > this.#bound.maxBytes) throw new ParleyError('upstream_failed', this.#bound.message);
  }
}

/** Folds the chunks of a reply into the complete reply. Throws `upstream_failed` if that is not possible. */
export class Accumulator extends ChunkFold {
  constructor() {
    super((message) => new ParleyError('upstream_failed', message));
  }
}

/** Returns a chunk that has only this content, to fold it with an `Accumulator`. */
export function toCustomContentChunk(custom: ResponseCustomContent): Chunk {
  return {
    id: '',
    object: 'chat.completion.chunk',
    created: 0,
    choices: [{ index: 0, delta: { custom_content: custom }, finish_reason: null }],
  };
}
