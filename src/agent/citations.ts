import { hash } from 'node:crypto';
import { truncate } from '#base/text/truncate.ts';
import type { Attachment, Citable } from '#domain/tools/tool.ts';

/** A numbered passage that the model can cite. */
export interface Citation {
  readonly number: number;
  /** Hash that identifies the passage, even after its excerpt was shortened. */
  readonly key: string;
  readonly attachment: Attachment;
  /** Whether the tool considered the passage its best match. */
  readonly isBest: boolean;
}

// Pattern bound: linear. A fence without an end matches to the end of the text. The search from a backtick ends at the next one.
const codePattern = /```[\s\S]*?(```|$)|`[^`\n]*`/g;
const citationPattern = /\[\s*(\d{1,4}(?:\s*[,;–-]\s*\d{1,4})*)\s*\]|【\s*(\d{1,4})[^】\n]{0,30}】/g;
const maxRangeLength = 20;
/** Maximum number of characters of an excerpt that are stored after the run. */
const maxStoredExcerptChars = 200;
/** Maximum number of citations that are stored after the reply. */
const maxStoredCitations = 200;
const keyChars = 22;

/**
 * Numbers the passages that the tools of a conversation return for citation. The same passage keeps its number in every turn.
 * Create one per run. The final reply decides which passages become its attachments (docs/retrieval.md).
 */
export class Citations {
  readonly #earlierCitations: readonly Citation[];
  readonly #ownCitations: Citation[];
  /** Texts that the model read, by number. They can be longer than the excerpts. */
  readonly #texts = new Map<number, string>();

  /**
   * `earlierCitations` are from previous runs of the conversation. `ownCitations` are from this run before it stopped to wait for
   * its client.
   */
  constructor(earlierCitations: readonly Citation[] = [], ownCitations: readonly Citation[] = []) {
    this.#earlierCitations = earlierCitations;
    this.#ownCitations = [...ownCitations];
  }

  /** Returns the most recent citations of this run for its state. If the run has ended, their excerpts are shortened. */
  exportCitations(hasEnded: boolean): readonly Citation[] {
    const last = this.#ownCitations.slice(-maxStoredCitations);
    return hasEnded ? last.map(shortenExcerpt) : last;
  }

  /** Adds a passage, and returns the number that the model cites it by. */
  add({ attachment, text, isBest }: Citable): number {
    const all = [...this.#earlierCitations, ...this.#ownCitations];
    const key = computeKey(attachment);
    const existing = all.find((citation) => citation.key === key);
    const number = existing?.number ?? 1 + Math.max(0, ...all.map((citation) => citation.number));
    const index = this.#ownCitations.findIndex((citation) => citation.number === number);
    if (index >= 0) this.#ownCitations.splice(index, 1);
    this.#ownCitations.push({ number, key, attachment, isBest });
    this.#texts.set(number, text);
    return number;
  }

  /**
   * Returns the attachments for a reply, ordered by number. They are the first of these that exist:
   * 1. the passages that the reply cites
   * 2. the passages of this run that share its wording
   * 3. the most recent passage marked as best
   */
  collectAttachments(reply: string): readonly Attachment[] {
    if (reply.trim() === '') return [];
    const citedNumbers = parseCitedNumbers(reply);
    const byNumber = new Map([...this.#earlierCitations, ...this.#ownCitations].map((citation) => [citation.number, citation]));
    const citedCitations = [...byNumber.values()].filter(({ number }) => citedNumbers.has(number));
    if (citedCitations.length > 0) return sortByNumber(citedCitations);
    const sourceIndexes = findSourcePassages(
      reply,
      this.#ownCitations.map(({ number, attachment }) => this.#texts.get(number) ?? attachment.data ?? ''),
    );
    if (sourceIndexes.size > 0) return sortByNumber(this.#ownCitations.filter((_citation, index) => sourceIndexes.has(index)));
    return this.#ownCitations
      .filter(({ isBest }) => isBest)
      .slice(-1)
      .map(({ attachment }) => attachment);
  }
}

function sortByNumber(citations: readonly Citation[]): Attachment[] {
  return [...citations].sort((first, second) => first.number - second.number).map(({ attachment }) => attachment);
}

function shortenExcerpt({ attachment, ...citation }: Citation): Citation {
  const { data } = attachment;
  if (data === undefined) return { ...citation, attachment };
  return { ...citation, attachment: { ...attachment, data: truncate(data, maxStoredExcerptChars) } };
}

function computeKey({ title, data, url, reference_url }: Attachment): string {
  return hash('sha256', JSON.stringify([title, data, url, reference_url]), 'base64url').slice(0, keyChars);
}

/** Parses marks such as `[1]`, `[1, 3]`, `[2-4]`, and `【1】`. Ignores marks in code. */
function parseCitedNumbers(reply: string): ReadonlySet<number> {
  const numbers = new Set<number>();
  for (const [, list, single = ''] of reply.replace(codePattern, ' ').matchAll(citationPattern)) {
    for (const [, first, last = first] of (list ?? single).matchAll(/(\d+)(?:\s*[–-]\s*(\d+))?/g)) {
      const end = Math.min(Number(last), Number(first) + maxRangeLength);
      for (let number = Number(first); number <= end; number += 1) numbers.add(number);
    }
  }
  return numbers;
}

/** Minimum share of a sentence's significant words that a passage must contain to count as the source of the sentence. */
const minShare = 0.6;
/** Minimum weight of a sentence. Shorter sentences are too generic to identify a source. */
const minWeight = 3;
/** Maximum number of characters of an answer that are examined. */
const maxAnswerChars = 20_000;
const minWordLength = 4;
/** Number of leading characters that are compared, so that word endings are ignored. */
const stemChars = 6;

const sentenceEnd = /(?<=[.!?:;])\s+|[。！？]|\n+/;
const digitPattern = /\d/;
const letterPattern = /\p{L}/u;
const wordOrNumber = /[\p{L}\p{M}\p{N}]+(?:[-_./:][\p{L}\p{M}\p{N}]+)*/gu;
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u;

/**
 * Returns the indexes of the passages that are sources of the answer's sentences. A sentence counts for the passage with the
 * largest weighted share of its words. Sentences below `minWeight` and shares below `minShare` do not count.
 */
export function findSourcePassages(answer: string, passages: readonly string[]): ReadonlySet<number> {
  const wordSets = passages.map((passage) => new Set(listSignificantWords(passage)));
  const sources = new Set<number>();
  for (const sentence of answer.slice(0, maxAnswerChars).split(sentenceEnd)) {
    const words = [...new Set(listSignificantWords(sentence))];
    const weight = computeWeight(words);
    if (weight < minWeight) continue;
    const shares = wordSets.map((wordSet) => computeWeight(words.filter((word) => wordSet.has(word))) / weight);
    const bestShare = Math.max(0, ...shares);
    if (bestShare >= minShare) sources.add(shares.indexOf(bestShare));
  }
  return sources;
}

/** Sums 1 for each word, 2 for each number, and 3 for each identifier with digits, which rarely matches by chance. */
function computeWeight(words: readonly string[]): number {
  return words.reduce((sum, word) => sum + (digitPattern.test(word) ? (letterPattern.test(word) ? 3 : 2) : 1), 0);
}

function* listSignificantWords(text: string): Iterable<string> {
  for (const [word] of text.normalize('NFKC').toLowerCase().matchAll(wordOrNumber)) {
    if (digitPattern.test(word)) yield word;
    else if (unspaced.test(word)) yield* listPairs(word);
    else if (word.length >= minWordLength) yield word.slice(0, stemChars);
  }
}

/** Returns pairs of characters, because scripts without spaces have no visible word boundaries. */
function* listPairs(word: string): Iterable<string> {
  const characters = [...word];
  for (let index = 0; index + 1 < characters.length; index += 1) yield `${characters[index]}${characters[index + 1]}`;
}
