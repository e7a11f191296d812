import type { Embedder } from '#domain/tools/embedder.ts';

/** What makes vectors here: of texts, all of one length. */
export interface TextEmbedder extends Pick<Embedder, 'model' | 'embed'> {
  /** How many texts of documents it is given at once; absent: 64. */
  readonly passagesAtOnce?: number;
}
