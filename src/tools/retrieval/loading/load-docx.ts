import { zipSync } from 'fflate';
import mammoth from 'mammoth';
import { readHtml } from './load-html.ts';
import type { LoadBounds, LoadedBlocks } from './loader.ts';
import { readZip } from './read-zip.ts';

const mainPart = 'word/document.xml';
const pageMark = '\ue0c7';
const renderedBreak = /<w:lastRenderedPageBreak\s*\/>/g;
// Pattern bound: runs in the document process, which has a time limit.
const requestedBreak = /<w:br\s[^>]*w:type="page"[^>]*\/>/g;
const styleMap = ["p[style-name='Title'] => h1:fresh", "p[style-name='Subtitle'] => h2:fresh"];

/**
 * Loads a Word document. Pages end at the breaks that Word recorded when it last rendered the document, otherwise at explicit
 * page breaks. A document without either has no pages.
 */
export async function loadDocx(bytes: Uint8Array, { maxUnpackedBytes }: LoadBounds): Promise<LoadedBlocks> {
  const parts = readZip(bytes, maxUnpackedBytes, (name) => /\.(xml|rels)$/.test(name));
  const text = parts.get(mainPart)?.toString('utf8') ?? '';
  const breaks = [renderedBreak, requestedBreak].find((pattern) => text.search(pattern) !== -1);
  const markedText = breaks === undefined ? text : text.replace(breaks, `<w:t>${pageMark}</w:t>`);
  // A new archive contains only the parts whose size was checked.
  const cleanArchive = zipSync({ ...Object.fromEntries(parts), [mainPart]: Buffer.from(markedText) }, { level: 0 });
  const { value } = await mammoth.convertToHtml({ buffer: Buffer.from(cleanArchive) }, { styleMap, convertImage: noImages });
  return readHtml(value, breaks && pageMark);
}

const noImages = mammoth.images.imgElement(async () => ({ src: '' }));
