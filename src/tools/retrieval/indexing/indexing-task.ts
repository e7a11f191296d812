import type { IndexedFile } from '#domain/files/file-index.ts';
import type { IndexedDocument } from '#domain/tools/passage-index.ts';

/** The progress of indexing one file. */
export class IndexingTask {
  readonly file: IndexedFile;
  /** Resolves with the indexed document. Rejects if a store failed. */
  readonly done: Promise<IndexedDocument>;
  /** Models whose vectors have been requested. */
  readonly models = new Set<string>();
  /** Whether the file was requested with the priority `requested`. */
  isRequested = false;
  document: IndexedDocument | undefined;
  hasStarted = false;
  hasEnded = false;
  readonly #resolvers = Promise.withResolvers<IndexedDocument>();

  constructor(file: IndexedFile) {
    this.file = file;
    this.done = this.#resolvers.promise;
    this.done.catch(() => undefined);
  }

  end(document: IndexedDocument): void {
    this.hasEnded = true;
    this.document = document;
    this.#resolvers.resolve(document);
  }

  fail(error: unknown): void {
    this.hasEnded = true;
    this.#resolvers.reject(error);
  }
}
