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
const longestRange = 20;
/** Characters of an excerpt that outlive their run. */
const longestRemembered = 200;
/** Citations that outlive their reply. */
const mostRemembered = 200;
const keyChars = 22;

/**
 * What the tools of a conversation gave to be cited, numbered through: the same passage has the same number in every turn. One
 * for a run. Which of it becomes an attachment of the reply is known once the reply is (docs/retrieval.md).
 */
export class Citations {
  readonly #earlier: readonly Citation[];
  readonly #own: Citation[];
  /** What the model read, if the excerpt is less. */
  readonly #texts = new Map<number, string>();

  /** `earlier` is what other runs of the conversation gave, `own` what this one did before it stopped for its caller. */
  constructor(earlier: readonly Citation[] = [], own: readonly Citation[] = []) {
    this.#earlier = earlier;
    this.#own = [...own];
  }

  /** What was given last in this run; once it is over, with the beginning of each excerpt. */
  toRemember(isOver: boolean): readonly Citation[] {
    const last = this.#own.slice(-mostRemembered);
    return isOver ? last.map(shortened) : last;
  }

  /** Gives what the model may cite it by. */
  add({ attachment, text, isBest }: Citable): number {
    const all = [...this.#earlier, ...this.#own];
    const key = keyOf(attachment);
    const known = all.find((other) => other.key === key);
    const number = known?.number ?? 1 + Math.max(0, ...all.map((other) => other.number));
    const at = this.#own.findIndex((other) => other.number === number);
    if (at >= 0) this.#own.splice(at, 1);
    this.#own.push({ number, key, attachment, isBest });
    this.#texts.set(number, text);
    return number;
  }

  /**
   * Attachments for a reply, by number: what it cites; if it cites nothing, what of this run has its wording; failing that,
   * what was found last to be the most to the point, if anything was.
   */
  usedIn(reply: string): readonly Attachment[] {
    if (reply.trim() === '') return [];
    const cited = numbersIn(reply);
    const byNumber = new Map([...this.#earlier, ...this.#own].map((each) => [each.number, each]));
    const named = [...byNumber.values()].filter(({ number }) => cited.has(number));
    if (named.length > 0) return inOrder(named);
    const worded = fromWordingOf(
      reply,
      this.#own.map(({ number, attachment }) => this.#texts.get(number) ?? attachment.data ?? ''),
    );
    if (worded.size > 0) return inOrder(this.#own.filter((_each, at) => worded.has(at)));
    return this.#own
      .filter(({ isBest }) => isBest)
      .slice(-1)
      .map(({ attachment }) => attachment);
  }
}

function inOrder(citations: readonly Citation[]): Attachment[] {
  return [...citations].sort((one, other) => one.number - other.number).map(({ attachment }) => attachment);
}

function shortened({ attachment, ...citation }: Citation): Citation {
  const { data = '' } = attachment;
  if (data.length <= longestRemembered) return { ...citation, attachment };
  return { ...citation, attachment: { ...attachment, data: `${data.slice(0, longestRemembered).toWellFormed()}…` } };
}

function keyOf({ title, data, url, reference_url }: Attachment): string {
  return createHash('sha256')
    .update(JSON.stringify([title, data, url, reference_url]))
    .digest('base64url')
    .slice(0, keyChars);
}

/** `[1]`, `[1, 3]`, `[2-4]`, `【1】`; none of what stands in code. */
function numbersIn(reply: string): ReadonlySet<number> {
  const numbers = new Set<number>();
  for (const [, list, single = ''] of reply.replace(code, ' ').matchAll(marks)) {
    for (const [, first, last = first] of (list ?? single).matchAll(/(\d+)(?:\s*[–-]\s*(\d+))?/g)) {
      const to = Math.min(Number(last), Number(first) + longestRange);
      for (let number = Number(first); number <= to; number += 1) numbers.add(number);
    }
  }
  return numbers;
}

/** Of a sentence's telling words, the share that a passage must have for the sentence to be taken from it. */
const leastShare = 0.6;
/** Sentences that weigh less say too little to tell where they come from. */
const leastWeight = 3;
/** Characters of an answer that are looked at. */
const longestAnswer = 20_000;
const shortestWord = 4;
/** Endings are ignored. */
const stemChars = 6;

const sentenceEnd = /(?<=[.!?:;])\s+|[。！？]|\n+/;
const digit = /\d/;
const letter = /\p{L}/u;
const wordOrNumber = /[\p{L}\p{M}\p{N}]+(?:[-_./:][\p{L}\p{M}\p{N}]+)*/gu;
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u;

/** Which passages, by their place, sentences of an answer were taken from, as far as the words tell: for each the one that has most of its words. */
export function fromWordingOf(answer: string, passages: readonly string[]): ReadonlySet<number> {
  const known = passages.map((passage) => new Set(tellingWords(passage)));
  const sources = new Set<number>();
  for (const sentence of answer.slice(0, longestAnswer).split(sentenceEnd)) {
    const words = [...new Set(tellingWords(sentence))];
    const weight = weigh(words);
    if (weight < leastWeight) continue;
    const shares = known.map((there) => weigh(words.filter((word) => there.has(word))) / weight);
    const best = Math.max(0, ...shares);
    if (best >= leastShare) sources.add(shares.indexOf(best));
  }
  return sources;
}

/** Numbers are seldom the same by chance, codes hardly ever. */
function weigh(words: readonly string[]): number {
  return words.reduce((sum, word) => sum + (digit.test(word) ? (letter.test(word) ? 3 : 2) : 1), 0);
}

function* tellingWords(text: string): Iterable<string> {
  for (const [word] of text.normalize('NFKC').toLowerCase().matchAll(wordOrNumber)) {
    if (digit.test(word)) yield word;
    else if (unspaced.test(word)) yield* pairsOf(word);
    else if (word.length >= shortestWord) yield word.slice(0, stemChars);
  }
}

/** Scripts without spaces have no words to be seen. */
function* pairsOf(run: string): Iterable<string> {
  const signs = [...run];
  for (let at = 0; at + 1 < signs.length; at += 1) yield `${signs[at]}${signs[at + 1]}`;
}
