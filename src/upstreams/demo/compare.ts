import { EmbeddingError } from '#base/embedding/local-embedder.ts';
import type { Embedder } from '#domain/tools/embedder.ts';
import { UpstreamError } from '#domain/upstreams/upstream.ts';
import type { Passage } from './read-request.ts';
import { countShared, listStems, shorten } from './words.ts';

/** Dependencies for comparing texts. */
export interface CompareDeps {
  readonly embedder: Embedder;
  readonly signal: AbortSignal;
}

/** Returns the similarity of each text to the question, from -1 to 1. */
export async function compare(question: string, texts: readonly string[], { embedder, signal }: CompareDeps): Promise<number[]> {
  if (texts.length === 0) return [];
  const [questionVector, ...vectors] = await embedder.embed([question, ...texts], signal);
  return vectors.map((vector) => dot(questionVector ?? new Float32Array(), vector));
}

function dot(first: Float32Array, second: Float32Array): number {
  return first.reduce((sum, value, index) => sum + value * (second[index] ?? 0), 0);
}

/** Converts an error to an `UpstreamError`. Returns it unchanged if the client disconnected. */
export function toDemoError(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted || error instanceof UpstreamError) return error;
  if (!(error instanceof EmbeddingError)) return new UpstreamError('broken', 'The embedder failed.', { cause: error });
  if (error.kind === 'busy')
    return new UpstreamError('refused', error.message, { status: 503, retryAfterSeconds: 1, cause: error });
  return new UpstreamError('broken', error.message, { cause: error });
}

export interface Quote {
  readonly source: string;
  readonly sentence: string;
  readonly score: number;
}

/** MiniLM gives related sentences a higher score than this. */
const minScore = 0.3;
const maxQuotes = 3;
/** Comparing a sentence takes about 30 ms. Only the sentences that share the most words with the question are compared. */
const maxCandidates = 24;
const maxSentences = 2000;
const maxSentenceChars = 300;

/** Returns the sentences nearest to the question, best first. The list is empty if no sentence is near. */
export async function quotePassages(question: string, passages: readonly Passage[], compareDeps: CompareDeps): Promise<Quote[]> {
  const questionStems = listStems(question);
  const candidates = passages
    .flatMap(splitSentences)
    .filter(({ sentence }) => sentence !== question)
    .slice(0, maxSentences)
    .map((candidate) => ({ ...candidate, shared: countShared(questionStems, listStems(candidate.sentence)) }))
    .sort((first, second) => second.shared - first.shared)
    .slice(0, maxCandidates);
  const scores = await compare(
    question,
    candidates.map(({ sentence }) => sentence),
    compareDeps,
  );
  return candidates
    .map(({ source, sentence }, index) => ({ source, sentence, score: scores[index] ?? 0 }))
    .filter(({ score }) => score >= minScore)
    .sort((first, second) => second.score - first.score)
    .slice(0, maxQuotes);
}

function splitSentences({ source, text }: Passage): { source: string; sentence: string }[] {
  const sentences: { source: string; sentence: string }[] = [];
  for (const { segment } of new Intl.Segmenter('en', { granularity: 'sentence' }).segment(text)) {
    const sentence = segment.trim().replace(/\s+/g, ' ');
    if (sentence !== '') sentences.push({ source, sentence: shorten(sentence, maxSentenceChars) });
    if (sentences.length === maxSentences) break;
  }
  return sentences;
}
