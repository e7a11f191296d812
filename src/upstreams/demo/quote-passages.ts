import { type CompareDeps, compare } from './compare.ts';
import type { Passage } from './read-conversation.ts';
import { countShared, listStems, shorten } from './words.ts';

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
const createSegmenter = () => new Intl.Segmenter('en', { granularity: 'sentence' });

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
  for (const { segment } of createSegmenter().segment(text)) {
    const sentence = segment.trim().replace(/\s+/g, ' ');
    if (sentence !== '') sentences.push({ source, sentence: shorten(sentence, maxSentenceChars) });
    if (sentences.length === maxSentences) break;
  }
  return sentences;
}
