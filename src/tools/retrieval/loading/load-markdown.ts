import { trimEndOf } from '#base/text/trim-end.ts';
import type { Block, LoadedBlocks } from './block.ts';
import { decodeText } from './decode-text.ts';

const heading = /^ {0,3}(#{1,6})\s/;
const underline = /^ {0,3}(=+|-+)\s*$/;
const fence = /^ {0,3}(`{3,}|~{3,})/;
const tableRuleCell = /^:?-+:?$/;

/** Markdown: its headings, its tables, and everything else as it is written. */
export function loadMarkdown(bytes: Uint8Array): LoadedBlocks {
  const reader = new MarkdownReader(decodeText(bytes).split(/\r?\n/));
  const blocks = reader.read();
  const title = blocks.find((block) => block.kind === 'heading');
  return { title: title?.kind === 'heading' ? title.text : '', blocks };
}

class MarkdownReader {
  readonly #lines: readonly string[];
  readonly #blocks: Block[] = [];
  #paragraph: string[] = [];
  #at = 0;

  constructor(lines: readonly string[]) {
    this.#lines = lines;
  }

  read(): Block[] {
    for (; this.#at < this.#lines.length; this.#at += 1) this.#take(this.#lines[this.#at] ?? '');
    this.#flush();
    return this.#blocks;
  }

  #take(line: string): void {
    const opening = fence.exec(line)?.[1];
    const marked = heading.exec(line);
    const under = underline.exec(line)?.[1];
    if (opening !== undefined) this.#takeFenced(opening);
    else if (marked !== null) this.#head(marked[1]?.length ?? 1, trimEndOf(line.slice(marked[0].length).trim(), '#'));
    else if (under !== undefined && this.#paragraph.length === 1)
      this.#head(under.startsWith('=') ? 1 : 2, this.#paragraph.pop() ?? '');
    else if (line.includes('|') && isTableRule(this.#lines[this.#at + 1] ?? '')) this.#takeTable();
    else if (line.trim() === '') this.#flush();
    else this.#paragraph.push(line);
  }

  #head(level: number, text: string): void {
    this.#flush();
    if (text.trim() !== '') this.#blocks.push({ kind: 'heading', level, text: text.trim(), page: null });
  }

  #takeFenced(opening: string): void {
    const from = this.#at;
    const isEnd = (line: string): boolean =>
      line.trim().startsWith(opening) && line.trim().replaceAll(opening[0] ?? '`', '') === '';
    while (this.#at + 1 < this.#lines.length) {
      this.#at += 1;
      if (isEnd(this.#lines[this.#at] ?? '')) break;
    }
    this.#paragraph.push(...this.#lines.slice(from, this.#at + 1));
  }

  #takeTable(): void {
    this.#flush();
    const header = toCells(this.#lines[this.#at] ?? '');
    const rows: string[][] = [];
    this.#at += 2;
    for (; this.#lines[this.#at]?.includes('|') === true; this.#at += 1) rows.push(toCells(this.#lines[this.#at] ?? ''));
    this.#at -= 1;
    this.#blocks.push({ kind: 'table', header, rows, page: null });
  }

  #flush(): void {
    if (this.#paragraph.length > 0) this.#blocks.push({ kind: 'text', text: this.#paragraph.join('\n'), page: null });
    this.#paragraph = [];
  }
}

function toCells(line: string): string[] {
  const inner = line
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '');
  return inner.split(/(?<!\\)\|/).map((cell) => cell.replaceAll('\\|', '|').trim());
}

/** Returns whether a line is the rule under the head of a table, such as `| --- | :-: |`. */
function isTableRule(line: string): boolean {
  const rule = line.trim();
  const from = rule.startsWith('|') ? 1 : 0;
  const end = rule.length > 1 && rule.endsWith('|') ? -1 : undefined;
  return rule
    .slice(from, end)
    .split('|')
    .every((cell) => tableRuleCell.test(cell.trim()));
}
