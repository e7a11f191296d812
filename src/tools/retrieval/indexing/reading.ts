import type { IndexedFile } from '#domain/files/file-index.ts';
import type { IndexedDocument } from '#domain/tools/passage-index.ts';

/** A file on its way into the index. */
export class Reading {
  readonly file: IndexedFile;
  /** What came of it; undefined as long as it is not over. Rejects if the stores failed. */
  readonly done: Promise<IndexedDocument>;
  /** Models whose vectors are asked for already. */
  readonly models = new Set<string>();
  /** Whether somebody waits for it, or did. */
  isRequested = false;
  #document: IndexedDocument | undefined;
  #hasStarted = false;
  #isOver = false;
  readonly #resolvers = Promise.withResolvers<IndexedDocument>();

  constructor(file: IndexedFile) {
    this.file = file;
    this.done = this.#resolvers.promise;
    this.done.catch(() => undefined);
  }

  get document(): IndexedDocument | undefined {
    return this.#document;
  }

  get hasStarted(): boolean {
    return this.#hasStarted;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  start(): void {
    this.#hasStarted = true;
  }

  end(document: IndexedDocument): void {
    this.#isOver = true;
    this.#document = document;
    this.#resolvers.resolve(document);
  }

  fail(error: unknown): void {
    this.#isOver = true;
    this.#resolvers.reject(error);
  }
}
