import type { IndexedDocument, PassageIndex, VectorKey } from '#domain/tools/passage-index.ts';

/** Vectors of the documents asked for last, up to so many bytes; the one not used for longest goes first. */
export class VectorCache {
  readonly #index: PassageIndex;
  readonly #maxBytes: number;
  readonly #whole = new Map<string, Float32Array>();
  #bytes = 0;

  constructor(index: PassageIndex, maxBytes: number) {
    this.#index = index;
    this.#maxBytes = maxBytes;
  }

  /** The vectors of a document, one behind the other from its first passage on; fewer than it has passages while they are being made. */
  async get({ id, passages }: IndexedDocument, model: string): Promise<Float32Array> {
    const name = `${id} ${model}`;
    const kept = this.#whole.get(name);
    if (kept !== undefined) {
      this.#whole.delete(name);
      this.#whole.set(name, kept);
      return kept;
    }
    const { vectors, count } = await this.#read({ document: id, model });
    if (count === passages) this.#keep(name, vectors);
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

  #keep(name: string, vectors: Float32Array): void {
    if (this.#whole.has(name)) return;
    this.#whole.set(name, vectors);
    this.#bytes += vectors.byteLength;
    for (const [oldest, { byteLength }] of this.#whole) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#whole.delete(oldest);
      this.#bytes -= byteLength;
    }
  }
}
