import type { TextEmbedder } from '#domain/tools/embedder.ts';

/** Embeds a text by its counts of the letters a to d. Records its inputs, can be delayed, and can fail. */
export class LetterEmbedder implements TextEmbedder {
  readonly model: string;
  readonly inputs: string[] = [];
  calls = 0;
  error: Error | undefined;
  gate: Promise<void> = Promise.resolve();

  constructor(model = 'letters') {
    this.model = model;
  }

  async embed(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> {
    this.calls += 1;
    await this.gate;
    signal.throwIfAborted();
    if (this.error !== undefined) throw this.error;
    this.inputs.push(...texts);
    return texts.map((text) => toUnit([...'abcd'].map((letter) => text.split(letter).length - 1)));
  }
}

function toUnit(values: readonly number[]): Float32Array {
  const length = Math.hypot(...values) || 1;
  return Float32Array.from(values, (value) => value / length);
}

/** Resolves once the condition holds. Checks it every 5 ms. */
export async function waitUntil(isMet: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isMet())) await new Promise((resolve) => setTimeout(resolve, 5));
}
