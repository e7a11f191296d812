import { trimEnd } from './shorten.ts';

/** Vocabularies of OpenAI's models. */
export type Vocabulary = 'o200k_base' | 'cl100k_base';

/** Text as tokens of a vocabulary. */
export interface Tokens {
  count(text: string): number;
  /** The text's start, at most so many tokens long. */
  first(text: string, maxTokens: number): string;
}

/** Beyond this a count is taken in proportion, so that no text holds up the process. */
const maxCountedChars = 100_000;
/** The tokenizer's time grows with the square of a run without a break. */
const longRun = /\S{256}|\s{256}/;
const pieces = /\s{0,128}\S{1,128}|\s{1,128}/g;
/** Marks such as <|endoftext|> in a text from outside are plain text. */
const asPlainText = { disallowedSpecial: new Set<string>() };

/** Loads the vocabulary (about 120 ms) on first use. */
export async function loadTokens(vocabulary: Vocabulary = 'o200k_base'): Promise<Tokens> {
  const { countTokens, encode, decode } = await load(vocabulary);
  return {
    count(text) {
      const counted = text.slice(0, maxCountedChars);
      const parts = longRun.test(counted) ? (counted.match(pieces) ?? []) : [counted];
      const tokens = parts.reduce((sum, part) => sum + countTokens(part, asPlainText), 0);
      return counted.length === text.length ? tokens : Math.ceil((tokens * text.length) / counted.length);
    },
    first(text, maxTokens) {
      const tokens = text.match(pieces)?.flatMap((piece) => encode(piece, asPlainText)) ?? [];
      if (tokens.length <= maxTokens) return text;
      return trimEnd(decode(tokens.slice(0, maxTokens)), '\uFFFD');
    },
  };
}

function load(vocabulary: Vocabulary) {
  if (vocabulary === 'cl100k_base') return import('gpt-tokenizer/encoding/cl100k_base');
  return import('gpt-tokenizer/encoding/o200k_base');
}
