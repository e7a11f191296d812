import { roughTokens } from './rough-tokens.ts';

const sentences = new Intl.Segmenter('en', { granularity: 'sentence' });
const words = /\S+\s*/g;

/** Cuts a text into pieces of at most so many tokens: between paragraphs, else sentences, else words, else anywhere. Put together again they are the text, but for space at the cuts. */
export function splitText(text: string, maxTokens: number): string[] {
  return split(text, maxTokens, [toLines, toSentences, toWords, toHalves])
    .map((piece) => piece.trimEnd())
    .filter((piece) => piece.trim() !== '');
}

type Cut = (text: string) => string[];

function split(text: string, maxTokens: number, [cut, ...finer]: readonly Cut[]): string[] {
  if (roughTokens(text) <= maxTokens || cut === undefined) return [text];
  const pieces: string[] = [];
  let piece = '';
  let weight = 0;
  for (const part of cut(text)) {
    const more = roughTokens(part);
    if (weight + more > maxTokens && piece !== '') {
      pieces.push(...split(piece, maxTokens, finer));
      piece = '';
      weight = 0;
    }
    piece += part;
    weight += more;
  }
  return [...pieces, ...split(piece, maxTokens, finer)];
}

function toLines(text: string): string[] {
  return text.split(/(?<=\n)/);
}

function toSentences(text: string): string[] {
  return Array.from(sentences.segment(text), ({ segment }) => segment);
}

function toWords(text: string): string[] {
  const [lead = ''] = /^\s*/.exec(text) ?? [];
  return [lead, ...(text.match(words) ?? [])].filter(Boolean);
}

/** Never between the halves of a surrogate pair. */
function toHalves(text: string): string[] {
  return [...text];
}
