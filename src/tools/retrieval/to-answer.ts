import type { Passage } from '#domain/tools/passage-index.ts';
import { type Attachment, howToCite, type ToolContext, type ToolResult } from '#domain/tools/tool.ts';
import type { ReadFile } from './await-readings.ts';
import type { GivenPassage } from './gather-passages.ts';

const longestExcerpt = 2000;
const nothing = 'Nothing in the documents fits this question. Try other words, or say that the documents do not tell.';
/** Of the allowed bytes, for notes and what stands between passages. */
const reservedBytes = 1000;
/** A number with its brackets, and the line breaks behind a passage. */
const markBytes = 10;

export interface Answering {
  readonly passages: readonly GivenPassage[];
  readonly notes: readonly string[];
  /** Bytes of the text. */
  readonly maxBytes: number;
  readonly cite: ToolContext['cite'];
}

/** What the model reads of passages, each under the number that it may cite it by. */
export function toAnswer({ passages, notes, maxBytes, cite }: Answering): ToolResult {
  const parts = withNumbers(passages, { maxBytes: maxBytes - reservedBytes, cite });
  const told = parts.length === 0 ? [nothing] : [...parts, howToCite];
  return { text: [...told, ...notes.map((note) => `Note: ${note}`)].join('\n\n'), attachments: [], failed: false };
}

/** As many as there is room for, in their order; where one is not the first of its section, its head is not repeated. */
function withNumbers(passages: readonly GivenPassage[], { maxBytes, cite }: Pick<Answering, 'maxBytes' | 'cite'>): string[] {
  const parts: string[] = [];
  let left = maxBytes;
  let before = '';
  for (const { file, passages: given, quoted, isBest } of passages) {
    const head = toHead(file, given[0] ?? quoted);
    const text = given.map((passage) => passage.text).join('\n');
    const said = head === before ? text : `${head}\n${text}`;
    const bytes = Buffer.byteLength(said) + markBytes;
    if (bytes > left) continue;
    left -= bytes;
    before = head;
    parts.push(`[${cite({ attachment: toCitation(file, quoted), text, isBest })}] ${said}`);
  }
  return parts;
}

function toHead(file: ReadFile, first: Passage): string {
  const headings = first.headings.length === 0 ? '' : ` — ${first.headings.join(' › ')}`;
  return `${toPlace(file, first, 'page')}${headings}`;
}

/** `report.pdf, p. 3`. */
function toPlace({ name, document }: ReadFile, { page }: Passage, pageWord: string): string {
  if (page === null) return name;
  const unit = document.format === 'pptx' ? 'slide' : document.format === 'xlsx' ? 'sheet' : pageWord;
  return `${name}, ${unit} ${page}`;
}

function toCitation(file: ReadFile, passage: Passage): Attachment {
  const { text, page } = passage;
  return {
    type: 'text/markdown',
    title: toPlace(file, passage, 'p.'),
    data: text.length <= longestExcerpt ? text : `${text.slice(0, longestExcerpt).toWellFormed()}…`,
    reference_type: file.file.contentType,
    reference_url: page === null ? file.reference : `${file.reference}#page=${page}`,
  };
}
