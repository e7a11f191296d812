import type { Clock } from '#base/time/clock.ts';
import type { BlobStore } from '#domain/files/blob-store.ts';
import type { IndexedFile } from '#domain/files/file-index.ts';
import type { IndexedDocument, PassageIndex } from '#domain/tools/passage-index.ts';
import { roughTokens } from '../loading/chunk-blocks.ts';
import { DocumentFault } from '../loading/document-fault.ts';
import { type DocumentBounds, type LoadedDocument, loadDocument } from '../loading/load-document.ts';
import { type Content, documentOf, findByBlob, labelOf, readContent } from './read-content.ts';

const leaseMs = 120_000;
const lookAgainMs = 250;
const passagesAtOnce = 500;

export interface DocumentReaderDeps {
  readonly index: PassageIndex;
  readonly blobs: BlobStore;
  readonly clock: Clock;
  /** Of this node, unlike that of any other. */
  readonly owner: string;
  readonly bounds: DocumentBounds;
}

interface Fetched {
  readonly content: Content;
  readonly file: IndexedFile;
  readonly signal: AbortSignal;
}

/** Brings the words of stored files into the index: each content once, whatever number of nodes and files has it. */
export class DocumentReader {
  readonly #deps: DocumentReaderDeps;
  /** By document: what is read by this node, which the leases do not tell from itself. */
  readonly #underWay = new Map<string, Promise<IndexedDocument>>();

  constructor(deps: DocumentReaderDeps) {
    this.#deps = deps;
  }

  /** What is in the index of a file, after it was read if it was not yet. A fault of the document is its `failure`. Throws StoreFault, the signal's reason. */
  async read(file: IndexedFile, signal: AbortSignal): Promise<IndexedDocument> {
    const known = await findByBlob(this.#deps.index, file.blob);
    if (known !== undefined) return known;
    try {
      return await this.#readAnew(file, signal);
    } catch (thrown) {
      signal.throwIfAborted();
      // What may end otherwise next time is nothing to keep; the document has no content that could be named.
      if (thrown instanceof DocumentFault) return toFailed('', thrown);
      throw thrown;
    }
  }

  async #readAnew(file: IndexedFile, signal: AbortSignal): Promise<IndexedDocument> {
    const { index, blobs, bounds } = this.#deps;
    const { maxBytes } = bounds;
    if (file.contentLength > maxBytes)
      throw new DocumentFault(
        `It has ${toMegabytes(file.contentLength)} MB; documents of up to ${toMegabytes(maxBytes)} MB are read.`,
      );
    const content = await readContent(blobs, file, maxBytes);
    await index.noteContent(file.blob, content.name);
    const id = documentOf(content.name);
    const reading = this.#underWay.get(id) ?? this.#readContent(id, { content, file, signal });
    this.#underWay.set(id, reading);
    return reading.finally(() => this.#underWay.delete(id));
  }

  async #readContent(id: string, { content, file, signal }: Fetched): Promise<IndexedDocument> {
    const { index, bounds, clock } = this.#deps;
    for (;;) {
      signal.throwIfAborted();
      const known = await index.find(id);
      if (known !== undefined) return known;
      if (await this.#claim(id)) break;
      await clock.sleep(lookAgainMs, signal);
    }
    try {
      // Another node may have ended it, and given the lease back, between the look and the claim.
      const known = await index.find(id);
      if (known !== undefined) return known;
      await index.begin(id, content.name);
      return await this.#store(id, await loadDocument(content.bytes, labelOf(file), { ...bounds, signal }));
    } catch (thrown) {
      if (!(thrown instanceof DocumentFault) || thrown.isPassing) throw thrown;
      const failed = toFailed(id, thrown);
      await index.finish(failed);
      return failed;
    } finally {
      await index.release({ name: leaseOf(id), owner: this.#deps.owner });
    }
  }

  async #store(id: string, { title, format, passages, note }: LoadedDocument): Promise<IndexedDocument> {
    const { index } = this.#deps;
    for (let from = 0; from < passages.length; from += passagesAtOnce) {
      if (!(await this.#claim(id)))
        throw new DocumentFault('Reading it took too long; another node reads it now.', { isPassing: true });
      await index.addPassages({ id, title }, passages.slice(from, from + passagesAtOnce));
    }
    const tokens = Math.ceil(passages.reduce((sum, { text }) => sum + roughTokens(text), 0));
    const document = { id, title, format, passages: passages.length, tokens, note, failure: undefined };
    if (await index.finish(document)) return document;
    await index.drop(id);
    throw new DocumentFault('It was deleted while it was read.', { isPassing: true });
  }

  #claim(id: string): Promise<boolean> {
    const { index, clock, owner } = this.#deps;
    const nowMs = clock.epochMs();
    return index.claim({ name: leaseOf(id), owner, nowMs, untilMs: nowMs + leaseMs });
  }
}

function leaseOf(document: string): string {
  return `read ${document}`;
}

function toFailed(id: string, { message }: DocumentFault): IndexedDocument {
  return { id, title: '', format: '', passages: 0, tokens: 0, note: undefined, failure: message };
}

function toMegabytes(bytes: number): string {
  return (bytes / 1024 ** 2).toFixed(1);
}
