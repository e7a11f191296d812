import type { Passage } from '#domain/passage-index.ts';
import type { Attachment, ToolResult } from '#domain/tool.ts';
import type { ReadFile } from './await-readings.ts';
import type { GivenPassage } from './gather-passages.ts';

const longestExcerpt = 2000;
const nothing = 'Nothing in the documents matches. Try other words, or say that the documents do not tell.';
const howToCite = 'Cite the passages that you use by their numbers, such as [1].';
/** Of the allowed bytes, for notes and what stands between passages. */
const reservedBytes = 1000;

export interface Answering {
  readonly passages: readonly GivenPassage[];
  readonly notes: readonly string[];
  /** Bytes of the text. */
  readonly maxBytes: number;
}

/** What the model reads of passages, and for the user an attachment for each that was found. */
export function toAnswer({ passages, notes, maxBytes }: Answering): ToolResult {
  const shown = within(passages, maxBytes - reservedBytes);
  const found = shown.flatMap(({ text: _text, ...given }) =>
    given.found === undefined ? [] : [{ ...given, found: given.found }],
  );
  const parts = [...(shown.length === 0 ? [nothing] : texts(shown)), ...(found.length === 0 ? [] : [howToCite])];
  return {
    text: [...parts, ...notes.map((note) => `Note: ${note}`)].join('\n\n'),
    attachments: found.map(({ file, found: { passage } }) => toCitation(file, passage)),
    failed: false,
  };
}

function texts(shown: readonly { readonly text: string }[]): string[] {
  return shown.map(({ text }) => text);
}

/** As many as there is room for, in their order; where one is not the first of its section, its head is not repeated. */
function within(passages: readonly GivenPassage[], maxBytes: number): (GivenPassage & { readonly text: string })[] {
  const shown: (GivenPassage & { readonly text: string })[] = [];
  let left = maxBytes;
  let before = '';
  for (const given of passages) {
    const head = toHead(given);
    const said = given.passages.map(({ text }) => text).join('\n');
    const mark = given.found === undefined ? '' : `[${given.found.number}] `;
    const text = mark === '' && head === before ? said : `${mark}${head}\n${said}`;
    left -= Buffer.byteLength(text);
    if (left < 0) break;
    before = head;
    shown.push({ ...given, text });
  }
  return shown;
}

function toHead({ file, passages: [first] }: GivenPassage): string {
  if (first === undefined) return file.name;
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
    data: text.length <= longestExcerpt ? text : `${text.slice(0, longestExcerpt)}…`,
    reference_type: file.file.contentType,
    reference_url: page === null ? file.reference : `${file.reference}#page=${page}`,
  };
}
