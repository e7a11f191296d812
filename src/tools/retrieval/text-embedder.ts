import type { Embedder } from '#domain/embedder.ts';

/** What makes vectors here: of texts, all of one length. */
export type TextEmbedder = Pick<Embedder, 'model' | 'embed'>;
