import type { Block, LoadedBlocks } from './block.ts';
import { decodeText } from './decode-text.ts';

const longestHeading = 80;
const underlined = /^(=|-|~|\*){3,}$/;
const numbered = /^(\d+(?:\.\d+)*)[.)]?\s+\p{Lu}/u;

/** Plain text: paragraphs by empty lines, pages by form feeds; lines that stand alone and look like headings are some. */
export function loadText(bytes: Uint8Array): LoadedBlocks {
  const pages = decodeText(bytes).split('\f');
  const blocks = pages.flatMap((page, index) => toBlocks(page, pages.length > 1 ? index + 1 : null));
  const [first] = blocks;
  return { title: first?.kind === 'heading' ? first.text : '', blocks };
}

function toBlocks(text: string, page: number | null): Block[] {
  // Pattern bound: runs in the document process, which has a time limit.
  return text.split(/\r?\n[^\S\n]*\r?\n/).flatMap((paragraph) => toBlock(paragraph.replace(/^\s*\n/, '').trimEnd(), page));
}

function toBlock(paragraph: string, page: number | null): Block[] {
  if (paragraph.trim() === '') return [];
  const [line = '', below = '', ...more] = paragraph.split(/\r?\n/);
  if (underlined.test(below.trim()) && line.trim().length <= longestHeading) {
    const heading: Block = { kind: 'heading', level: below.startsWith('=') ? 1 : 2, text: line.trim(), page };
    return [heading, ...toBlock(more.join('\n'), page)];
  }
  if (below !== '' || line.length > longestHeading || /[.,;:!?]$/.test(line)) return [{ kind: 'text', text: paragraph, page }];
  const level = headingLevel(line.trim());
  return [level === undefined ? { kind: 'text', text: paragraph, page } : { kind: 'heading', level, text: line.trim(), page }];
}

function headingLevel(line: string): number | undefined {
  const number = numbered.exec(line)?.[1];
  if (number !== undefined) return number.split('.').length + 1;
  // Pattern bound: runs in the document process, which has a time limit.
  const isCapitals = /\b\p{Lu}{3,}\b/u.test(line) && line === line.toUpperCase();
  return isCapitals ? 1 : undefined;
}
