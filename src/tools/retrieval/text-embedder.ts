import type { Embedder } from '#domain/tools/embedder.ts';

/** What makes vectors here: of texts, all of one length. */
export type TextEmbedder = Pick<Embedder, 'model' | 'embed'>;
