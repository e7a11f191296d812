import { type GivePart, serveIsolated } from '#base/isolation/serve-isolated.ts';
import type { LoadBounds, LoadedBlocks } from './block.ts';
import { chunkBlocks } from './chunk-blocks.ts';
import { DocumentFault } from './document-fault.ts';
import type { LoadingOutcome, LoadingTask } from './load-document.ts';
import { type FileLabel, type Format, sniffFormat } from './sniff-format.ts';

const passagesAtOnce = 500;

/** Runs in a process of its own, one for each document: the bytes come in, the passages go out. */
async function read(
  { label, bounds, maxPassages }: LoadingTask,
  bytes: Uint8Array<ArrayBuffer>,
  give: GivePart,
): Promise<LoadingOutcome> {
  try {
    const { title, format, blocks, note } = await loadBytes(bytes, label, bounds);
    const passages = chunkBlocks(blocks);
    if (passages.length === 0) return { failure: 'It is empty: there is no text in it.' };
    const isCut = passages.length > maxPassages;
    const cut = isCut ? `Only the first ${maxPassages} of its ${passages.length} passages were kept.` : undefined;
    const notes = [note, cut].filter((each) => each !== undefined).join(' ');
    for (let from = 0; from < Math.min(passages.length, maxPassages); from += passagesAtOnce)
      await give(passages.slice(from, Math.min(from + passagesAtOnce, maxPassages)));
    return { title: title.slice(0, 300), format, note: notes === '' ? undefined : notes };
  } catch (thrown) {
    if (thrown instanceof DocumentFault) return { failure: thrown.message };
    throw thrown;
  }
}

type Loader = (bytes: Uint8Array, bounds: LoadBounds) => LoadedBlocks | Promise<LoadedBlocks>;

/** Each loader with its libraries only where it is needed. */
const loaders: Readonly<Record<Format, () => Promise<Loader>>> = {
  txt: async () => (await import('./load-text.ts')).loadText,
  md: async () => (await import('./load-markdown.ts')).loadMarkdown,
  html: async () => (await import('./load-html.ts')).loadHtml,
  csv: async () => (await import('./load-csv.ts')).loadCsv,
  json: async () => (await import('./load-json.ts')).loadJson,
  pdf: async () => (await import('./load-pdf.ts')).loadPdf,
  docx: async () => (await import('./load-docx.ts')).loadDocx,
  xlsx: async () => (await import('./load-xlsx.ts')).loadXlsx,
  pptx: async () => (await import('./load-pptx.ts')).loadPptx,
};

/** The blocks of a file of any format that is read. Throws DocumentFault. */
export async function loadBytes(
  bytes: Uint8Array,
  label: FileLabel,
  bounds: LoadBounds,
): Promise<LoadedBlocks & { readonly format: Format }> {
  const format = sniffFormat(bytes, label);
  if (bytes.length === 0) return { title: '', blocks: [], format };
  try {
    return { ...(await (await loaders[format]())(bytes, bounds)), format };
  } catch (cause) {
    throw cause instanceof DocumentFault
      ? cause
      : new DocumentFault(`The file is damaged: it cannot be read as ${format}.`, { cause });
  }
}

// Last, because it reads the tables above.
await serveIsolated(read);
