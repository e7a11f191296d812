import { LocalEmbedder, type LocalEmbedderOptions } from './local-embedder.ts';

/** Texts of a long request that one thread gets at a time. */
const sharedAtOnce = 8;
/** Threads beside the first end soon: each has the model in memory once more. */
const idleMs = 60_000;

/** Several threads with the same model: long requests are shared out among all, short ones go to the one with the least to do. */
export class EmbedderPool {
  readonly model: string;
  readonly dimensions: number;
  readonly #embedders: readonly LocalEmbedder[];

  /** `threads`: at most; they start when there is enough to do. */
  constructor(threads: number, options: LocalEmbedderOptions = {}) {
    const first = new LocalEmbedder(options);
    const others = Array.from({ length: threads - 1 }, () => new LocalEmbedder({ idleMs, ...options }));
    this.#embedders = [first, ...others];
    this.model = first.model;
    this.dimensions = first.dimensions;
  }

  /** Throws EmbeddingFault, or the signal's reason. */
  async embed(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> {
    if (texts.length < sharedAtOnce) return this.#leastBusy().embed(texts, signal);
    const vectors = new Array<Float32Array>(texts.length);
    let next = 0;
    const work = async (embedder: LocalEmbedder): Promise<void> => {
      for (let from = next; from < texts.length; from = next) {
        next += sharedAtOnce;
        const made = await embedder.embed(texts.slice(from, from + sharedAtOnce), signal);
        for (const [at, vector] of made.entries()) vectors[from + at] = vector;
      }
    };
    try {
      await Promise.all(this.#embedders.map(work));
    } finally {
      next = texts.length;
    }
    return vectors;
  }

  async close(): Promise<void> {
    await Promise.all(this.#embedders.map((embedder) => embedder.close()));
  }

  /** A thread that runs already is better than one that has to start. */
  #leastBusy(): LocalEmbedder {
    return this.#embedders.reduce((best, each) => (each.isRunning && each.waiting < best.waiting ? each : best));
  }
}
