import type { LoadBounds, LoadedBlocks } from './block.ts';
import { DocumentFault } from './document-fault.ts';
import { type FileLabel, type Format, sniffFormat } from './sniff-format.ts';

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
