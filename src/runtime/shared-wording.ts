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
