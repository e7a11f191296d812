import { type Comparing, compare } from './compare.ts';
import type { Passage } from './read-conversation.ts';
import { countShared, shorten, stems } from './words.ts';

export interface Quote {
  readonly source: string;
  readonly sentence: string;
  readonly score: number;
}

/** Sentences that MiniLM finds near a question have more than this. */
const leastScore = 0.3;
const mostQuotes = 3;
/** Comparing one takes about 30 ms; the ones that share the most words with the question are taken. */
const mostCompared = 24;
const mostSentences = 2000;
const longestSentence = 300;
const segmenter = () => new Intl.Segmenter('en', { granularity: 'sentence' });

/** The sentences nearest to the question, best first; none if none is near. */
export async function quotePassages(question: string, passages: readonly Passage[], comparing: Comparing): Promise<Quote[]> {
  const asked = stems(question);
  const candidates = passages
    .flatMap(splitSentences)
    .filter(({ sentence }) => sentence !== question)
    .slice(0, mostSentences)
    .map((candidate) => ({ ...candidate, shared: countShared(asked, stems(candidate.sentence)) }))
    .sort((one, other) => other.shared - one.shared)
    .slice(0, mostCompared);
  const scores = await compare(
    question,
    candidates.map(({ sentence }) => sentence),
    comparing,
  );
  return candidates
    .map(({ source, sentence }, index) => ({ source, sentence, score: scores[index] ?? 0 }))
    .filter(({ score }) => score >= leastScore)
    .sort((one, other) => other.score - one.score)
    .slice(0, mostQuotes);
}

function splitSentences({ source, text }: Passage): { source: string; sentence: string }[] {
  const found: { source: string; sentence: string }[] = [];
  for (const { segment } of segmenter().segment(text)) {
    const sentence = segment.trim().replace(/\s+/g, ' ');
    if (sentence !== '') found.push({ source, sentence: shorten(sentence, longestSentence) });
    if (found.length === mostSentences) break;
  }
  return found;
}
