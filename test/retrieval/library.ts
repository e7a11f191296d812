import type { TextEmbedder } from '../../src/tools/retrieval/deployment-embedder.ts';

/** Vectors of the letters a to d in a text, and what was asked for. It can be held up and made to fail. */
export class LetterEmbedder implements TextEmbedder {
  readonly model: string;
  readonly asked: string[] = [];
  fault: Error | undefined;
  gate: Promise<void> = Promise.resolve();

  constructor(model = 'letters') {
    this.model = model;
  }

  async embed(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> {
    await this.gate;
    signal.throwIfAborted();
    if (this.fault !== undefined) throw this.fault;
    this.asked.push(...texts);
    return texts.map((text) => toUnit([...'abcd'].map((letter) => text.split(letter).length - 1)));
  }
}

function toUnit(values: readonly number[]): Float32Array {
  const length = Math.hypot(...values) || 1;
  return Float32Array.from(values, (value) => value / length);
}

/** Resolves once it is so. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 5));
}
