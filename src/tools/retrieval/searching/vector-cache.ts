import type { BoundedCache } from '#base/bounded-cache.ts';
import type { IndexedDocument, PassageIndex, VectorKey } from '#domain/tools/passage-index.ts';

/** Vectors of the documents asked for last. */
export class VectorCache {
  readonly #index: PassageIndex;
  readonly #whole: BoundedCache<Float32Array>;

  constructor(index: PassageIndex, whole: BoundedCache<Float32Array>) {
    this.#index = index;
    this.#whole = whole;
  }

  /** The vectors of a document, one behind the other from its first passage on; fewer than it has passages while they are being made. */
  async get({ id, passages }: IndexedDocument, model: string): Promise<Float32Array> {
    const name = `${id} ${model}`;
    const kept = this.#whole.find(name);
    if (kept !== undefined) return kept;
    const { vectors, count } = await this.#read({ document: id, model });
    if (count === passages) this.#whole.set(name, vectors);
    return vectors;
  }

  async #read(key: VectorKey): Promise<{ vectors: Float32Array; count: number }> {
    const runs = await this.#index.vectors(key);
    const vectors = new Float32Array(runs.reduce((sum, run) => sum + run.vectors.length, 0));
    let at = 0;
    for (const run of runs) {
      vectors.set(run.vectors, at);
      at += run.vectors.length;
    }
    return { vectors, count: runs.reduce((sum, run) => sum + run.count, 0) };
  }
}
