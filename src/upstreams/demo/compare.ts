import type { Embedder } from '#domain/tools/embedder.ts';

/** What comparing texts needs. */
export interface Comparing {
  readonly embedder: Embedder;
  readonly signal: AbortSignal;
}

/** How near each text is to the question in meaning, from -1 to 1. */
export async function compare(question: string, texts: readonly string[], { embedder, signal }: Comparing): Promise<number[]> {
  if (texts.length === 0) return [];
  const [asked, ...others] = await embedder.embed([question, ...texts], signal);
  return others.map((other) => dot(asked ?? new Float32Array(), other));
}

function dot(one: Float32Array, other: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < one.length; at += 1) sum += (one[at] ?? 0) * (other[at] ?? 0);
  return sum;
}
