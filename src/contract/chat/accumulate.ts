import { ParleyError } from '../errors/errors.ts';
import { ChunkFold } from './chunk-fold.ts';

/** Folds the chunks of a reply to the whole reply, and throws upstream_failed for one that cannot be folded. */
export class Accumulator extends ChunkFold {
  constructor() {
    super((message) => new ParleyError('upstream_failed', message));
  }
}
