import { deflateSync } from 'node:zlib';
import { makeDocxFromBody, makeZip, toWordParagraph } from '../../bench/retrieval/make/make-office.ts';
import { makePdf } from '../../bench/retrieval/make/make-pdf.ts';

/** A file that is harmful to its reader, or only looks harmful. */
export interface HostileDocument {
  readonly name: string;
  readonly bytes: Uint8Array;
}

const megabyte = 2 ** 20;
const page = [[{ text: 'The mill was built in 1283.', size: 11 }]];

/** Creates a PDF of one page. Its content unpacks to this many bytes and repeats one command. */
function packedPdf(unpackedBytes: number): Buffer {
  const content = deflateSync(Buffer.alloc(unpackedBytes, 'BT (a) Tj ET\n'), { level: 1 });
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << >> >>',
    `<< /Length ${content.length} /Filter /FlateDecode >>\nstream\n${content.toString('latin1')}\nendstream`,
  ];
  const text = objects.map((object, index) => `${index + 1} 0 obj\n${object}\nendobj\n`).join('');
  return Buffer.from(`%PDF-1.4\n${text}trailer\n<< /Size 5 /Root 1 0 R >>\nstartxref\n0\n%%EOF\n`, 'latin1');
}

function replaced(from: string | RegExp, to: string): Buffer {
  return Buffer.from(Buffer.from(makePdf(page)).toString('latin1').replace(from, to), 'latin1');
}

/** Lists one document of each kind. */
export function hostileDocuments(): readonly HostileDocument[] {
  const documents: Readonly<Record<string, Uint8Array>> = {
    'good.pdf': makePdf(page),
    'circle.pdf': replaced(/\/Kids \[[^\]]*\]/, '/Kids [2 0 R]'),
    'no-pages.pdf': replaced(/\/Count \d+/, '/Count 999999999'),
    'cut.pdf': Buffer.from(makePdf(page)).subarray(0, 300),
    'first-line.pdf': Buffer.from('%PDF-1.7\n'),
    'no-pdf.pdf': Buffer.alloc(100_000, '%PDF-1.7 '),
    'bomb.docx': makeZip({ 'word/document.xml': Buffer.alloc(250 * megabyte, 'a') }),
    'deep.docx': makeDocxFromBody(`${'<w:ins>'.repeat(200_000)}${'</w:ins>'.repeat(200_000)}`),
    'long.docx': makeDocxFromBody(toWordParagraph('word '.repeat(400_000))),
    'entities.docx': makeZip({ 'word/document.xml': '<!DOCTYPE a [<!ENTITY b "c">]><w:document>&b;</w:document>' }),
    'many.xlsx': makeZip(
      Object.fromEntries(Array.from({ length: 3_000 }, (_, index) => [`xl/worksheets/sheet${index}.xml`, '<a/>'])),
    ),
    'deep.json': Buffer.from(`${'['.repeat(200_000)}${']'.repeat(200_000)}`),
    'deep.html': Buffer.from(`<html>${'<div>'.repeat(200_000)}text`),
    'quotes.csv': Buffer.alloc(3 * megabyte, '"'),
    'one-line.txt': Buffer.alloc(5 * megabyte, 'a'),
    'nulls.txt': Buffer.alloc(megabyte),
    'packed-250-mb.pdf': packedPdf(250 * megabyte),
    'packed-60-mb.pdf': packedPdf(60 * megabyte),
  };
  return Object.entries(documents).map(([name, bytes]) => ({ name, bytes }));
}
