import type { Paper, Part, Table } from '../corpus/paper.ts';
import { escapeXml, makeDocx, makePptx, makeXlsx } from './make-office.ts';
import { makePdf, type PdfLine } from './make-pdf.ts';

const lineLength = 95;

const makers: Readonly<Record<string, (paper: Paper) => Uint8Array<ArrayBuffer> | string>> = {
  txt: ({ title, parts }) => [title, ...parts.flatMap(({ heading, paragraphs = [] }) => [heading, ...paragraphs])].join('\n\n'),
  md: ({ title, parts }) =>
    [
      `# ${title}`,
      ...parts.flatMap((part) => [
        `## ${part.heading}`,
        ...(part.paragraphs ?? []),
        ...(part.table ? [toMarkdown(part.table)] : []),
      ]),
    ].join('\n\n'),
  html: toHtml,
  csv: ({ parts }) =>
    parts
      .flatMap(({ table }) => (table === undefined ? [] : [table.header, ...table.rows]))
      .map((row) => row.map(quote).join(','))
      .join('\r\n'),
  pdf: ({ title, parts }) => makePdf(parts.map((part, index) => toLines(part, index === 0 ? title : undefined))),
  docx: makeDocx,
  xlsx: makeXlsx,
  pptx: makePptx,
};

/** Returns the bytes of a paper in the format of its file extension. */
export function makeDocument(paper: Paper): Uint8Array<ArrayBuffer> {
  const content = makers[paper.file.slice(paper.file.lastIndexOf('.') + 1)]?.(paper) ?? '';
  return typeof content === 'string' ? Uint8Array.from(Buffer.from(content)) : content;
}

function toHtml({ title, parts }: Paper): string {
  const body = parts.map(
    ({ heading, paragraphs = [], table }) =>
      `<h2>${escapeXml(heading)}</h2>${paragraphs.map((text) => `<p>${escapeXml(text)}</p>`).join('')}${table ? toHtmlTable(table) : ''}`,
  );
  return `<!doctype html><html><head><title>${escapeXml(title)}</title><style>p { margin: 0 }</style></head><body><h1>${escapeXml(title)}</h1>${body.join('\n')}</body></html>`;
}

function toHtmlTable({ header, rows }: Table): string {
  const row = (cells: readonly string[], tag: string): string =>
    `<tr>${cells.map((cell) => `<${tag}>${escapeXml(cell)}</${tag}>`).join('')}</tr>`;
  return `<table>${row(header, 'th')}${rows.map((cells) => row(cells, 'td')).join('')}</table>`;
}

function toMarkdown({ header, rows }: Table): string {
  return [header, header.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

function quote(cell: string): string {
  return /[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

function toLines({ heading, paragraphs = [], table }: Part, title: string | undefined): PdfLine[] {
  const rows = table === undefined ? [] : [table.header, ...table.rows].map((row) => row.join('   '));
  const texts = [...paragraphs.flatMap((text) => [...wrap(text), '']), ...rows];
  return [
    ...(title === undefined
      ? []
      : [
          { text: title, size: 20 },
          { text: '', size: 11 },
        ]),
    { text: heading, size: 15 },
    { text: '', size: 8 },
    ...texts.map((text) => ({ text, size: 11 })),
  ];
}

function wrap(text: string): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line.length + word.length + 1 > lineLength) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
