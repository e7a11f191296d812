import type { Token, Tokens } from 'marked';
import { citationMarks } from '../attachments/citations.ts';
import { decodeCharacterReferences, toBlocks } from '../markdown/lexer.ts';

/** Converts markdown to sentences for reading aloud, without code, display formulas, citation marks, and addresses. */
export function toSpoken(markdown: string, language: string): readonly string[] {
  const sentences = new Intl.Segmenter(language, { granularity: 'sentence' });
  return toBlocks(markdown)
    .flatMap(toLines)
    .flatMap((line) => [...sentences.segment(line)].map(({ segment }) => segment.trim()))
    .filter((sentence) => /[\p{L}\p{N}]/u.test(sentence));
}

function toLines(block: Token): readonly string[] {
  switch (block.type) {
    case 'heading':
    case 'paragraph':
    case 'text':
      return [getInlineText(block)];
    case 'blockquote':
      return (block as Tokens.Blockquote).tokens.flatMap(toLines);
    case 'list':
      return (block as Tokens.List).items.flatMap(({ tokens }) => tokens.flatMap(toLines));
    case 'table': {
      const { header, rows } = block as Tokens.Table;
      return [header, ...rows].map((cells) => cells.map(getInlineText).join(', '));
    }
    default:
      return [];
  }
}

function getInlineText({ tokens, text = '' }: { readonly tokens?: readonly Token[]; readonly text?: string }): string {
  if (tokens === undefined) return decodeCharacterReferences(text).replace(citationMarks, '');
  return tokens.map((token) => (token.type === 'br' ? ' ' : getInlineText(token as Tokens.Generic))).join('');
}
