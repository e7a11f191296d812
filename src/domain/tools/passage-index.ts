/** A part of a document that is small enough to search and quote. */
export interface Passage {
  /** Index in the document, starting at 0. */
  readonly nth: number;
  /** Number of the page, slide, or sheet, starting at 1. Null if the format has none. */
  readonly page: number | null;
  /** Headings above the passage, outermost first. */
  readonly headings: readonly string[];
  readonly text: string;
}

/** Result of indexing a document. */
export interface IndexedDocument {
  /** Hash of the content ID and the loader version. Equal bytes of the same format have the same ID in all buckets. */
  readonly id: string;
  /** Title from the document. Empty if it has none. */
  readonly title: string;
  readonly format: string;
  readonly passageCount: number;
  /** Estimated number of tokens. */
  readonly tokenCount: number;
  /** Sentence for the user about parts that Parley could not read. Undefined if Parley read the complete document. */
  readonly note: string | undefined;
  /** Sentence for the user about the reason of a failure. Undefined if the document was indexed. */
  readonly failure: string | undefined;
}

export interface PassageHit {
  readonly document: string;
  readonly nth: number;
}

/** A passage that shares words with a question. */
export interface WordHit extends PassageHit {
  /** Share of the significant words in the question that the passage or its headings contain, from 0 to 1. */
  readonly matchedShare: number;
  /**
   * Share of the exact terms in the question (codes, numbers, file names) that the passage contains, from 0 to 1. 0 if the
   * question has no such terms.
   */
  readonly exactShare: number;
}

/** Vectors of consecutive passages, concatenated. */
export interface VectorRun {
  /** `nth` of the first passage. */
  readonly first: number;
  readonly count: number;
  readonly vectors: Float32Array;
}

/** Document and embedding model of vectors. */
export interface VectorKey {
  readonly document: string;
  readonly model: string;
}

/** Exclusive right of one node to run an operation. */
export interface Lease {
  readonly name: string;
  /** Unique name of the node. */
  readonly owner: string;
  readonly nowMs: number;
  readonly untilMs: number;
}

/**
 * Port that stores a full-text and vector index of files by content. All applications and nodes share it. Each operation is
 * atomic, and durable after it resolves. Throws `StoreError`.
 */
export interface PassageIndex {
  /** Returns the content ID of a blob. Equal bytes of the same format have the same ID. Undefined if it is not recorded. */
  findContent(blob: string): Promise<string | undefined>;
  recordContent(blob: string, content: string): Promise<void>;
  /** Acquires or extends a lease. Returns false if another node holds it. */
  claim(lease: Lease): Promise<boolean>;
  release(lease: Pick<Lease, 'name' | 'owner'>): Promise<void>;
  /** Returns undefined until the document is completely indexed. */
  find(document: string): Promise<IndexedDocument | undefined>;
  /**
   * Starts to index a document and deletes data of an earlier attempt. `content` is its recorded content ID.
   */
  startDocument(document: string, content: string): Promise<void>;
  addPassages(document: Pick<IndexedDocument, 'id' | 'title'>, passages: readonly Passage[]): Promise<void>;
  /** Marks the passages as complete. Returns false if the document was deleted in the meantime. */
  finishDocument(document: IndexedDocument): Promise<boolean>;
  /** Deletes a document with its passages and vectors. */
  deleteDocument(document: string): Promise<void>;
  /** Returns the passages of a document with `from <= nth < to`, in order. */
  readRange(document: string, from: number, to: number): Promise<readonly Passage[]>;
  /**
   * Returns passages of these documents that share words with a text, best first. Passages with exact terms of the text precede
   * all others.
   */
  searchWords(text: string, documents: readonly string[], limit: number): Promise<readonly WordHit[]>;
  addVectors(key: VectorKey, run: VectorRun): Promise<void>;
  /** Returns vectors in the order of the passages. Some may not exist yet. */
  readVectors(key: VectorKey): Promise<readonly VectorRun[]>;
  /** Returns the number of passages with vectors. These are the first passages of the document. */
  countVectors(key: VectorKey): Promise<number>;
  /** Deletes data that no stored file uses. */
  sweep(): Promise<void>;
}

/** Indexing progress of an application's document. */
export interface DocumentProgress {
  /** Unique name that the model and the user see. */
  readonly name: string;
  /** File reference as the application specifies it. */
  readonly reference: string;
  /** `ready` means that keyword search and semantic search are available. */
  readonly state: 'waiting' | 'indexing' | 'ready' | 'failed';
  /** Whether keyword search is already available. */
  readonly isSearchable: boolean;
  /** Sentence for the user about the reason of a failure, or about unreadable parts. Undefined if there are no problems. */
  readonly reason: string | undefined;
  /** Number of passages that are available to semantic search. */
  readonly done: number;
  /** Number of all passages. Undefined until Parley has read the document. */
  readonly total: number | undefined;
}
