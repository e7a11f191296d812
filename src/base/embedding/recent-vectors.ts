/** Vectors of the texts asked for last; the one not used for longest goes first. */
export class RecentVectors {
  readonly #vectors = new Map<string, Float32Array>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  find(text: string): Float32Array | undefined {
    const vector = this.#vectors.get(text);
    if (vector !== undefined) this.#place(text, vector);
    return vector;
  }

  add(text: string, vector: Float32Array): void {
    this.#place(text, vector);
    if (this.#vectors.size <= this.#most) return;
    for (const oldest of this.#vectors.keys()) {
      this.#vectors.delete(oldest);
      return;
    }
  }

  #place(text: string, vector: Float32Array): void {
    this.#vectors.delete(text);
    this.#vectors.set(text, vector);
  }
}
