import { utils, write } from '@e965/xlsx';
import { strToU8, zipSync } from 'fflate';
import type { Paper, Table } from '../corpus/paper.ts';

const xml = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>';
const relations = 'http://schemas.openxmlformats.org/package/2006/relationships';
const officeRelation = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const wordSpace = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';
const slideSpace = `xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:r="${officeRelation}"`;

type Bytes = Uint8Array<ArrayBuffer>;

/** Creates a ZIP archive of parts, like the Office formats. */
export function makeZip(parts: Readonly<Record<string, string | Uint8Array>>): Bytes {
  return Uint8Array.from(
    zipSync(
      Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, typeof part === 'string' ? strToU8(part) : part])),
    ),
  );
}

export function makeDocx({ title, parts }: Paper): Bytes {
  const body = parts.map(({ heading, paragraphs = [], table }, index) => {
    const pageBreak = index === 0 ? '' : '<w:p><w:r><w:br w:type="page"/></w:r></w:p>';
    return (
      pageBreak +
      toWordParagraph(heading, 'Heading2') +
      paragraphs.map((text) => toWordParagraph(text)).join('') +
      (table ? toWordTable(table) : '')
    );
  });
  return makeDocxFromBody(`${toWordParagraph(title, 'Heading1')}${body.join('')}`);
}

/** Creates a Word document with this body. */
export function makeDocxFromBody(body: string): Bytes {
  const style = (id: string, name: string): string =>
    `<w:style w:type="paragraph" w:styleId="${id}"><w:name w:val="${name}"/></w:style>`;
  return makeZip({
    '[Content_Types].xml': `${xml}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`,
    '_rels/.rels': toRelations([['rId1', 'officeDocument', 'word/document.xml']]),
    'word/_rels/document.xml.rels': toRelations([['rId1', 'styles', 'styles.xml']]),
    'word/styles.xml': `${xml}<w:styles ${wordSpace}>${style('Heading1', 'heading 1')}${style('Heading2', 'heading 2')}</w:styles>`,
    'word/document.xml': `${xml}<w:document ${wordSpace}><w:body>${body}</w:body></w:document>`,
  });
}

export function toWordParagraph(text: string, style?: string): string {
  const properties = style === undefined ? '' : `<w:pPr><w:pStyle w:val="${style}"/></w:pPr>`;
  return `<w:p>${properties}<w:r><w:t xml:space="preserve">${escapeXml(text)}</w:t></w:r></w:p>`;
}

function toWordTable({ header, rows }: Table): string {
  const row = (cells: readonly string[]): string =>
    `<w:tr>${cells.map((cell) => `<w:tc>${toWordParagraph(cell)}</w:tc>`).join('')}</w:tr>`;
  return `<w:tbl>${[header, ...rows].map(row).join('')}</w:tbl>`;
}

export function makeXlsx({ parts }: Paper): Bytes {
  const book = utils.book_new();
  for (const { heading, table } of parts) {
    utils.book_append_sheet(
      book,
      utils.aoa_to_sheet([[...(table?.header ?? [])], ...(table?.rows ?? []).map((row) => [...row])]),
      heading,
    );
  }
  return new Uint8Array(write(book, { type: 'array', bookType: 'xlsx', compression: true }) as ArrayBuffer);
}

export function makePptx({ parts }: Paper): Bytes {
  const files: Record<string, string> = {
    'ppt/presentation.xml': `${xml}<p:presentation ${slideSpace}><p:sldIdLst>${parts.map((_, index) => `<p:sldId id="${256 + index}" r:id="rId${index + 1}"/>`).join('')}</p:sldIdLst></p:presentation>`,
    'ppt/_rels/presentation.xml.rels': toRelations(
      parts.map((_, index) => [`rId${index + 1}`, 'slide', `slides/slide${index + 1}.xml`]),
    ),
    '_rels/.rels': toRelations([['rId1', 'officeDocument', 'ppt/presentation.xml']]),
  };
  for (const [index, { heading, paragraphs = [], table }] of parts.entries()) {
    const shapes = `${toShape([heading], 'title')}${paragraphs.length > 0 ? toShape(paragraphs, 'body') : ''}${table ? toSlideTable(table) : ''}`;
    files[`ppt/slides/slide${index + 1}.xml`] =
      `${xml}<p:sld ${slideSpace}><p:cSld><p:spTree>${shapes}</p:spTree></p:cSld></p:sld>`;
  }
  return makeZip(files);
}

function toShape(lines: readonly string[], type: string): string {
  return `<p:sp><p:nvSpPr><p:nvPr><p:ph type="${type}"/></p:nvPr></p:nvSpPr><p:txBody>${lines.map(toTextLine).join('')}</p:txBody></p:sp>`;
}

function toTextLine(text: string): string {
  return `<a:p><a:r><a:t>${escapeXml(text)}</a:t></a:r></a:p>`;
}

function toSlideTable({ header, rows }: Table): string {
  const row = (cells: readonly string[]): string =>
    `<a:tr>${cells.map((cell) => `<a:tc><a:txBody>${toTextLine(cell)}</a:txBody></a:tc>`).join('')}</a:tr>`;
  return `<p:graphicFrame><a:graphic><a:graphicData><a:tbl>${[header, ...rows].map(row).join('')}</a:tbl></a:graphicData></a:graphic></p:graphicFrame>`;
}

function toRelations(items: readonly (readonly [id: string, type: string, target: string])[]): string {
  const all = items.map(([id, type, target]) => `<Relationship Id="${id}" Type="${officeRelation}/${type}" Target="${target}"/>`);
  return `${xml}<Relationships xmlns="${relations}">${all.join('')}</Relationships>`;
}

export function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
