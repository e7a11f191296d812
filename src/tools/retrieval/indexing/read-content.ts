import { createHash } from 'node:crypto';
import type { BlobStore } from '#domain/files/blob-store.ts';
import type { IndexedFile } from '#domain/files/file-index.ts';
import type { IndexedDocument, PassageIndex } from '#domain/tools/passage-index.ts';
import { DocumentError } from '../loading/document-error.ts';
import { type FileLabel, sniffFormat } from '../loading/sniff-format.ts';

/** Increment it when loaders or the chunker return different results for the same bytes. Documents are then read again. */
const loaderVersion = 1;

export interface Content {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Identical for equal bytes of the same format. */
  readonly name: string;
}

/** Reads the bytes of a stored file. Throws `DocumentError` if the file is too long or no longer exists, or `StoreError`. */
export async function readContent(blobs: BlobStore, file: IndexedFile, maxBytes: number): Promise<Content> {
  const stream = await blobs.read(file.blob, undefined);
  if (stream === undefined) throw new DocumentError('It was deleted or replaced while it was to be read.', { isTransient: true });
  const bytes = new Uint8Array(file.contentLength);
  const hash = createHash('sha256');
  let length = 0;
  for await (const piece of stream as AsyncIterable<Uint8Array>) {
    if (length + piece.length > Math.min(bytes.length, maxBytes))
      throw new DocumentError('Its stored content does not have the expected size. Upload it again.');
    bytes.set(piece, length);
    length += piece.length;
    hash.update(piece);
  }
  return { bytes, name: `${hash.digest('hex')}.${detectFormat(bytes, toLabel(file))}` };
}

export function toLabel({ path, contentType }: IndexedFile): FileLabel {
  return { name: path.slice(path.lastIndexOf('/') + 1), contentType };
}

/** Returns the document ID for a content, which depends on the version of the loaders. */
export function computeDocumentId(content: string): string {
  return createHash('sha256').update(`${loaderVersion} ${content}`).digest('hex');
}

/** Returns the indexed document of a blob, or undefined if it was not read completely. Throws `StoreError`. */
export async function findByBlob(index: PassageIndex, blob: string): Promise<IndexedDocument | undefined> {
  const content = await index.findContent(blob);
  return content === undefined ? undefined : index.find(computeDocumentId(content));
}

function detectFormat(bytes: Uint8Array, label: FileLabel): string {
  try {
    return sniffFormat(bytes, label);
  } catch (error) {
    if (error instanceof DocumentError) return 'unknown';
    throw error;
  }
}
