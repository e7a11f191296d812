import { trimEnd } from './truncate.ts';

/** Vocabularies of OpenAI's models. */
export type Vocabulary = 'o200k_base' | 'cl100k_base';

/** Tokenizer for one vocabulary. */
export interface Tokenizer {
  count(text: string): number;
  /** Returns the start of the text, at most `maxTokens` tokens long. */
  truncate(text: string, maxTokens: number): string;
}

/** Longer texts are counted up to this length and extrapolated, so that no text blocks the process. */
const maxCountedChars = 50_000;
/** The tokenizer's time grows with the square of a run without a break. */
const longRun = /\S{256}|\s{256}/;
const pieces = /\s{0,128}\S{1,128}|\s{1,128}/g;
/** Tokenizes marks such as <|endoftext|> as plain text, because texts come from outside. */
const asPlainText = { disallowedSpecial: new Set<string>() };
/** Size of the tokenizer's cache of words. With the default of 100,000, a full cache makes it 10 times slower. */
const maxStoredWords = 2_000;

/** Loads the vocabulary on first use, which takes about 120 ms. */
export async function loadTokenizer(vocabulary: Vocabulary = 'o200k_base'): Promise<Tokenizer> {
  const { countTokens, encode, decode } = await load(vocabulary);
  return {
    count(text) {
      const counted = text.slice(0, maxCountedChars);
      const parts = longRun.test(counted) ? (counted.match(pieces) ?? []) : [counted];
      const tokens = parts.reduce((sum, part) => sum + countTokens(part, asPlainText), 0);
      return counted.length === text.length ? tokens : Math.ceil((tokens * text.length) / counted.length);
    },
    truncate(text, maxTokens) {
      const tokens = text.match(pieces)?.flatMap((piece) => encode(piece, asPlainText)) ?? [];
      if (tokens.length <= maxTokens) return text;
      return trimEnd(decode(tokens.slice(0, maxTokens)), '\uFFFD');
    },
  };
}

async function load(vocabulary: Vocabulary) {
  const tokenizer = await (vocabulary === 'cl100k_base'
    ? import('gpt-tokenizer/encoding/cl100k_base')
    : import('gpt-tokenizer/encoding/o200k_base'));
  tokenizer.setMergeCacheSize(maxStoredWords);
  return tokenizer;
}
