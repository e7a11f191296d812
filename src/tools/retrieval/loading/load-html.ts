import { parseHTML } from 'linkedom';
import type { LoadedBlocks } from './block.ts';
import { readElements } from './read-elements.ts';
import { decodeText } from './sniff-format.ts';

// Pattern bound: runs in the document process, which has a time limit.
const charset = /<meta[^>]+charset\s*=\s*["']?([\w-]+)/i;

/** A web page: its headings, tables and text, without what is not shown. */
export function loadHtml(bytes: Uint8Array): LoadedBlocks {
  return readHtml(decode(bytes));
}

/** The same of HTML that is text already; `pageMark` stands where a page ends. */
export function readHtml(html: string, pageMark?: string): LoadedBlocks {
  const { document } = parseHTML(html);
  const blocks = readElements(document, pageMark);
  const title = document.querySelector('title')?.textContent.trim() ?? '';
  const first = blocks.find((block) => block.kind === 'heading');
  return { title: title !== '' ? title : first?.kind === 'heading' ? first.text : '', blocks };
}

/** A page may say how it is encoded; that counts if the bytes are not UTF-8. */
function decode(bytes: Uint8Array): string {
  const text = decodeText(bytes);
  const declaredCharset = charset.exec(text.slice(0, 2048))?.[1];
  if (declaredCharset === undefined || /^(utf-?8|utf-?16)/i.test(declaredCharset)) return text;
  try {
    return new TextDecoder(declaredCharset).decode(bytes);
  } catch {
    return text;
  }
}
