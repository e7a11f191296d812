import type { Passage, PassageHit } from '#domain/tools/passage-index.ts';

/** A golden question. It has no answers if the documents contain none. */
export interface GoldenQuestion {
  readonly kind: string;
  readonly question: string;
  readonly answers: readonly GoldenAnswer[];
}

interface GoldenAnswer {
  readonly file: string;
  /** Null for formats without pages. */
  readonly page: number | null;
  /** Text in the passage that answers the question. */
  readonly has: string;
}

/** A search result with its file. */
interface FoundPassage {
  readonly file: string;
  readonly passage: Passage;
}

export interface Verdict {
  readonly kind: string;
  /** Fraction of the answers among the first five passages. */
  readonly recallAt5: number;
  /** Reciprocal rank of the first passage that answers the question. */
  readonly reciprocalRank: number;
}

export type ShowPassage = (hit: PassageHit) => Promise<FoundPassage>;

/** Measures how well a list of passages answers a question. */
export async function judge(golden: GoldenQuestion, hits: readonly PassageHit[], show: ShowPassage): Promise<Verdict> {
  const passages = await Promise.all(hits.map(show));
  const ranks = golden.answers.map((answer) => passages.findIndex((passage) => isAnswer(answer, passage)));
  const inFive = ranks.filter((rank) => rank >= 0 && rank < 5).length;
  const first = Math.min(...ranks.map((rank) => (rank === -1 ? Number.POSITIVE_INFINITY : rank)));
  return { kind: golden.kind, recallAt5: inFive / golden.answers.length, reciprocalRank: 1 / (first + 1) };
}

function isAnswer({ file, page, has }: GoldenAnswer, candidate: FoundPassage): boolean {
  return candidate.file === file && candidate.passage.page === page && candidate.passage.text.replaceAll('\n', ' ').includes(has);
}

export function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0) / Math.max(1, numbers.length);
}

/** Returns the value at the quantile `share`. */
export function percentile(numbers: readonly number[], share: number): number {
  const ordered = numbers.toSorted((left, right) => left - right);
  return ordered[Math.min(ordered.length - 1, Math.ceil(share * ordered.length) - 1)] ?? Number.NaN;
}
