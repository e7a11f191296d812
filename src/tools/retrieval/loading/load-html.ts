import { parseHTML } from 'linkedom';
import type { LoadedBlocks } from './block.ts';
import { readElements } from './read-elements.ts';
import { decodeText } from './sniff-format.ts';

// Pattern bound: runs in the document process, which has a time limit.
const charset = /<meta[^>]+charset\s*=\s*["']?([\w-]+)/i;

/** Loads the headings, tables, and visible text of a web page. */
export function loadHtml(bytes: Uint8Array): LoadedBlocks {
  return readHtml(decode(bytes));
}

/** Loads decoded HTML. `pageMark` separates pages. */
export function readHtml(html: string, pageMark?: string): LoadedBlocks {
  const { document } = parseHTML(html);
  const blocks = readElements(document, pageMark);
  const title = document.querySelector('title')?.textContent.trim() ?? '';
  return { title: title || (blocks.find((block) => block.kind === 'heading')?.text ?? ''), blocks };
}

/** Uses the charset that the page declares only if the bytes are not UTF-8. */
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
