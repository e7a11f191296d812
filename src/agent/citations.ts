import { createHash } from 'node:crypto';
import type { Attachment, Citable } from '#domain/tools/tool.ts';

/** What a model was given under a number. */
export interface Citation {
  readonly number: number;
  /** Tells it from others, even if its excerpt was shortened. */
  readonly key: string;
  readonly attachment: Attachment;
  /** Whether its tool held it to be the most to the point. */
  readonly isBest: boolean;
}

// Pattern bound: linear. A fence without an end matches to the end of the text, and a backtick ends the search of the one before.
const code = /```[\s\S]*?(```|$)|`[^`\n]*`/g;
const marks = /\[\s*(\d{1,4}(?:\s*[,;–-]\s*\d{1,4})*)\s*\]|【\s*(\d{1,4})[^】\n]{0,30}】/g;
const maxRangeLength = 20;
/** Characters of an excerpt that outlive their run. */
const maxStoredExcerptChars = 200;
/** Citations that outlive their reply. */
const maxStoredCitations = 200;
const keyChars = 22;

/**
 * What the tools of a conversation gave to be cited, numbered through: the same passage has the same number in every turn. One
 * for a run. Which of it becomes an attachment of the reply is known once the reply is (docs/retrieval.md).
 */
export class Citations {
  readonly #earlier: readonly Citation[];
  readonly #ownCitations: Citation[];
  /** What the model read, if the excerpt is less. */
  readonly #texts = new Map<number, string>();

  /** `earlier` is what other runs of the conversation gave, `own` what this one did before it stopped for its caller. */
  constructor(earlier: readonly Citation[] = [], ownCitations: readonly Citation[] = []) {
    this.#earlier = earlier;
    this.#ownCitations = [...ownCitations];
  }

  /** What was given last in this run; once it is over, with the beginning of each excerpt. */
  exportCitations(isOver: boolean): readonly Citation[] {
    const last = this.#ownCitations.slice(-maxStoredCitations);
    return isOver ? last.map(shortenExcerpt) : last;
  }

  /** Gives what the model may cite it by. */
  add({ attachment, text, isBest }: Citable): number {
    const all = [...this.#earlier, ...this.#ownCitations];
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
   * Attachments for a reply, by number: what it cites; if it cites nothing, what of this run has its wording; failing that,
   * what was found last to be the most to the point, if anything was.
   */
  collectAttachments(reply: string): readonly Attachment[] {
    if (reply.trim() === '') return [];
    const citedNumbers = parseCitedNumbers(reply);
    const byNumber = new Map([...this.#earlier, ...this.#ownCitations].map((citation) => [citation.number, citation]));
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
  const { data = '' } = attachment;
  if (data.length <= maxStoredExcerptChars) return { ...citation, attachment };
  return { ...citation, attachment: { ...attachment, data: `${data.slice(0, maxStoredExcerptChars).toWellFormed()}…` } };
}

function computeKey({ title, data, url, reference_url }: Attachment): string {
  return createHash('sha256')
    .update(JSON.stringify([title, data, url, reference_url]))
    .digest('base64url')
    .slice(0, keyChars);
}

/** `[1]`, `[1, 3]`, `[2-4]`, `【1】`; none of what stands in code. */
function parseCitedNumbers(reply: string): ReadonlySet<number> {
  const numbers = new Set<number>();
  for (const [, list, single = ''] of reply.replace(code, ' ').matchAll(marks)) {
    for (const [, first, last = first] of (list ?? single).matchAll(/(\d+)(?:\s*[–-]\s*(\d+))?/g)) {
      const end = Math.min(Number(last), Number(first) + maxRangeLength);
      for (let number = Number(first); number <= end; number += 1) numbers.add(number);
    }
  }
  return numbers;
}

/** Of a sentence's telling words, the share that a passage must have for the sentence to be taken from it. */
const minShare = 0.6;
/** Sentences that weigh less say too little to tell where they come from. */
const minWeight = 3;
/** Characters of an answer that are looked at. */
const maxAnswerChars = 20_000;
const minWordLength = 4;
/** Endings are ignored. */
const stemChars = 6;

const sentenceEnd = /(?<=[.!?:;])\s+|[。！？]|\n+/;
const digit = /\d/;
const letter = /\p{L}/u;
const wordOrNumber = /[\p{L}\p{M}\p{N}]+(?:[-_./:][\p{L}\p{M}\p{N}]+)*/gu;
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u;

/** Which passages, by their place, sentences of an answer were taken from, as far as the words tell: for each the one that has most of its words. */
export function findSourcePassages(answer: string, passages: readonly string[]): ReadonlySet<number> {
  const wordSets = passages.map((passage) => new Set(listSignificantWords(passage)));
  const sources = new Set<number>();
  for (const sentence of answer.slice(0, maxAnswerChars).split(sentenceEnd)) {
    const words = [...new Set(listSignificantWords(sentence))];
    const weight = computeWeight(words);
    if (weight < minWeight) continue;
    const shares = wordSets.map((wordSet) => computeWeight(words.filter((word) => wordSet.has(word))) / weight);
    const best = Math.max(0, ...shares);
    if (best >= minShare) sources.add(shares.indexOf(best));
  }
  return sources;
}

/** Numbers are seldom the same by chance, codes hardly ever. */
function computeWeight(words: readonly string[]): number {
  return words.reduce((sum, word) => sum + (digit.test(word) ? (letter.test(word) ? 3 : 2) : 1), 0);
}

function* listSignificantWords(text: string): Iterable<string> {
  for (const [word] of text.normalize('NFKC').toLowerCase().matchAll(wordOrNumber)) {
    if (digit.test(word)) yield word;
    else if (unspaced.test(word)) yield* listPairs(word);
    else if (word.length >= minWordLength) yield word.slice(0, stemChars);
  }
}

/** Scripts without spaces have no words to be seen. */
function* listPairs(run: string): Iterable<string> {
  const characters = [...run];
  for (let index = 0; index + 1 < characters.length; index += 1) yield `${characters[index]}${characters[index + 1]}`;
}
