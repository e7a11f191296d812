import { createHash, hash } from 'node:crypto';
import { splitIntoBatches } from '#base/stream/batches.ts';
import type { Clock } from '#base/time/clock.ts';
import type { BlobStore } from '#domain/files/blob-store.ts';
import type { IndexedFile } from '#domain/files/file-index.ts';
import type { IndexedDocument, PassageIndex } from '#domain/tools/passage-index.ts';
import { getFileName } from '../document-set.ts';
import { estimateTokens } from '../loading/chunk-blocks.ts';
import { type DocumentBounds, type LoadedDocument, loadDocument } from '../loading/load-document.ts';
import { DocumentError } from '../loading/loader.ts';
import { type FileLabel, sniffFormat } from '../loading/sniff-format.ts';

const leaseMs = 120_000;
const pollIntervalMs = 250;
const passagesPerBatch = 500;

export interface DocumentReaderDeps {
  readonly index: PassageIndex;
  readonly blobs: BlobStore;
  readonly clock: Clock;
  /** ID of this node for leases, unique among nodes. If no other node uses the index, it stays the same after a restart. */
  readonly owner: string;
  readonly bounds: DocumentBounds;
}

/** Indexes the words of stored files. Identical content is indexed once, regardless of the number of files and nodes. */
export class DocumentReader {
  readonly #deps: DocumentReaderDeps;
  /** Active reads of this node, by document. Leases do not distinguish the reads of one node. */
  readonly #activeReads = new Map<string, Promise<IndexedDocument>>();

  constructor(deps: DocumentReaderDeps) {
    this.#deps = deps;
  }

  /**
   * Returns the indexed document of a file. Reads the file first if necessary. An error of the document becomes its `failure`.
   * Throws `StoreError`, or the reason of the signal.
   */
  async readDocument(file: IndexedFile, signal: AbortSignal): Promise<IndexedDocument> {
    const existing = await findByBlob(this.#deps.index, file.blob);
    if (existing !== undefined) return existing;
    try {
      return await this.#readNew(file, signal);
    } catch (error) {
      signal.throwIfAborted();
      // Failures that a retry may resolve are not stored. The document has no ID, because its content is unknown.
      if (error instanceof DocumentError) return toFailedDocument('', error);
      throw error;
    }
  }

  async #readNew(file: IndexedFile, signal: AbortSignal): Promise<IndexedDocument> {
    const { index, blobs, bounds } = this.#deps;
    const { maxBytes } = bounds;
    if (file.contentLength > maxBytes)
      throw new DocumentError(`It has ${toMegabytes(file.contentLength)} MB. The limit is ${toMegabytes(maxBytes)} MB.`);
    const content = await readContent(blobs, file, maxBytes);
    await index.recordContent(file.blob, content.id);
    const id = computeDocumentId(content.id);
    const reading = this.#activeReads.get(id) ?? this.#readContent(id, content, file, signal);
    this.#activeReads.set(id, reading);
    return reading.finally(() => this.#activeReads.delete(id));
  }

  async #readContent(id: string, content: Content, file: IndexedFile, signal: AbortSignal): Promise<IndexedDocument> {
    const { index, bounds, clock } = this.#deps;
    for (;;) {
      signal.throwIfAborted();
      const existing = await index.find(id);
      if (existing !== undefined) return existing;
      if (await this.#claim(id)) break;
      await clock.sleep(pollIntervalMs, signal);
    }
    try {
      // Another node may have finished and released the lease between the lookup and the claim.
      const existing = await index.find(id);
      if (existing !== undefined) return existing;
      await index.startDocument(id, content.id);
      return await this.#store(id, await loadDocument(content.bytes, toLabel(file), { ...bounds, signal }));
    } catch (error) {
      if (!(error instanceof DocumentError) || error.isTransient) throw error;
      const failed = toFailedDocument(id, error);
      await index.finishDocument(failed);
      return failed;
    } finally {
      await index.release({ name: getLeaseName(id), owner: this.#deps.owner });
    }
  }

  async #store(id: string, { title, format, passages, note }: LoadedDocument): Promise<IndexedDocument> {
    const { index } = this.#deps;
    for (const batch of splitIntoBatches(passages, passagesPerBatch)) {
      if (!(await this.#claim(id)))
        throw new DocumentError('Reading it took too long. Another node reads it now.', { isTransient: true });
      await index.addPassages({ id, title }, batch);
    }
    const tokenCount = Math.ceil(passages.reduce((sum, { text }) => sum + estimateTokens(text), 0));
    const document = { id, title, format, passageCount: passages.length, tokenCount, note, failure: undefined };
    if (await index.finishDocument(document)) return document;
    await index.deleteDocument(id);
    throw new DocumentError('It was deleted while it was read.', { isTransient: true });
  }

  #claim(id: string): Promise<boolean> {
    const { index, clock, owner } = this.#deps;
    const nowMs = clock.epochMs();
    return index.claim({ name: getLeaseName(id), owner, nowMs, untilMs: nowMs + leaseMs });
  }
}

function getLeaseName(document: string): string {
  return `read ${document}`;
}

function toFailedDocument(id: string, { message }: DocumentError): IndexedDocument {
  return { id, title: '', format: '', passageCount: 0, tokenCount: 0, note: undefined, failure: message };
}

function toMegabytes(bytes: number): string {
  return (bytes / 1024 ** 2).toFixed(1);
}

/** Increment it when loaders or the chunker return different results for the same bytes. Documents are then read again. */
const loaderVersion = 1;

interface Content {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Equal for equal bytes of the same format. */
  readonly id: string;
}

/**
 * Reads the bytes of a stored file. Throws `DocumentError` if the file is longer than expected or no longer exists, or
 * `StoreError`.
 */
async function readContent(blobs: BlobStore, file: IndexedFile, maxBytes: number): Promise<Content> {
  const stream = await blobs.read(file.blob, undefined);
  if (stream === undefined) throw new DocumentError('It was deleted or replaced while it was to be read.', { isTransient: true });
  const bytes = new Uint8Array(file.contentLength);
  const digest = createHash('sha256');
  let length = 0;
  for await (const piece of stream as AsyncIterable<Uint8Array>) {
    if (length + piece.length > Math.min(bytes.length, maxBytes))
      throw new DocumentError('Its stored content does not have the expected size. Upload it again.');
    bytes.set(piece, length);
    length += piece.length;
    digest.update(piece);
  }
  return { bytes, id: `${digest.digest('hex')}.${detectFormat(bytes, toLabel(file))}` };
}

function toLabel({ path, contentType }: IndexedFile): FileLabel {
  return { name: getFileName(path), contentType };
}

/** Returns the document ID for a content ID. It also depends on the version of the loaders. */
export function computeDocumentId(contentId: string): string {
  return hash('sha256', `${loaderVersion} ${contentId}`, 'hex');
}

/** Returns the indexed document of a blob, or undefined if it was not read completely. Throws `StoreError`. */
export async function findByBlob(index: PassageIndex, blob: string): Promise<IndexedDocument | undefined> {
  const contentId = await index.findContent(blob);
  return contentId === undefined ? undefined : index.find(computeDocumentId(contentId));
}

function detectFormat(bytes: Uint8Array, label: FileLabel): string {
  try {
    return sniffFormat(bytes, label);
  } catch (error) {
    if (error instanceof DocumentError) return 'unknown';
    throw error;
  }
}
