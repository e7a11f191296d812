import { DocumentError } from './loader.ts';
import { listZip } from './read-zip.ts';

const byteOrderMarks = [
  { bytes: [0xef, 0xbb, 0xbf], encoding: 'utf-8' },
  { bytes: [0xff, 0xfe], encoding: 'utf-16le' },
  { bytes: [0xfe, 0xff], encoding: 'utf-16be' },
];

export type Format = 'txt' | 'md' | 'html' | 'csv' | 'json' | 'pdf' | 'docx' | 'xlsx' | 'pptx';

/** Name and content type of a file. */
export interface FileLabel {
  readonly name: string;
  readonly contentType: string;
}

const mainParts: readonly (readonly [part: string, format: Format])[] = [
  ['word/document.xml', 'docx'],
  ['xl/workbook.xml', 'xlsx'],
  ['ppt/presentation.xml', 'pptx'],
];

const formatsByContentType: ReadonlyMap<string, Format> = new Map([
  ['text/html', 'html'],
  ['application/xhtml+xml', 'html'],
  ['text/markdown', 'md'],
  ['text/x-markdown', 'md'],
  ['text/csv', 'csv'],
  ['text/tab-separated-values', 'csv'],
]);

const formatsByExtension: ReadonlyMap<string, Format> = new Map([
  ['html', 'html'],
  ['htm', 'html'],
  ['xhtml', 'html'],
  ['md', 'md'],
  ['markdown', 'md'],
  ['csv', 'csv'],
  ['tsv', 'csv'],
  ['json', 'json'],
]);

/**
 * Detects the format of a file: by its first bytes, its content type, or its name, in this order. The default is plain text.
 * The type `application/json` is ignored if the name indicates another format, because programs send it with any upload. Throws
 * `DocumentError`.
 */
export function sniffFormat(bytes: Uint8Array, { name, contentType }: FileLabel): Format {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 1024)).toString('latin1');
  const [type = ''] = contentType.toLowerCase().split(';');
  const extension = /\.([^./]+)$/.exec(name.toLowerCase())?.[1] ?? '';
  if (head.trimStart().startsWith('%PDF-') || (extension === 'pdf' && head.includes('%PDF-'))) return 'pdf';
  if (head.startsWith('PK\x03\x04')) return sniffZipFormat(bytes);
  if (head.startsWith('\xd0\xcf\x11\xe0'))
    throw new DocumentError('It is encrypted or has an Office format from before 2007. Save it as docx, xlsx, or pptx.');
  const declaredFormat = formatsByContentType.get(type.trim()) ?? formatsByExtension.get(extension);
  if (declaredFormat !== undefined) return declaredFormat;
  if (type.trim() === 'application/json' && extension !== 'txt') return 'json';
  return /^(\xef\xbb\xbf)?\s*(<!doctype html|<html[\s>])/i.test(head) ? 'html' : 'txt';
}

function sniffZipFormat(bytes: Uint8Array): Format {
  const names = new Set(listZip(bytes));
  const match = mainParts.find(([part]) => names.has(part));
  if (match !== undefined) return match[1];
  throw new DocumentError('It is an archive, but not a docx, xlsx, or pptx file.');
}

/**
 * Decodes bytes: by their byte order mark, otherwise as UTF-8, otherwise as Windows-1252, which accepts any bytes. Throws
 * `DocumentError` if the bytes are not text.
 */
export function decodeText(bytes: Uint8Array): string {
  const mark = byteOrderMarks.find((candidate) => candidate.bytes.every((byte, index) => bytes[index] === byte));
  if (mark !== undefined) return new TextDecoder(mark.encoding).decode(bytes);
  if (bytes.includes(0)) throw new DocumentError('It is not text, and its format is not supported.');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}
