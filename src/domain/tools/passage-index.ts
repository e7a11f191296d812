/** A piece of a document that is small enough to be searched and quoted. */
export interface Passage {
  /** Its place in the document, from 0. */
  readonly nth: number;
  /** From 1: a page, slide or sheet; null if the format has none. */
  readonly page: number | null;
  /** The headings it stands under, outermost first. */
  readonly headings: readonly string[];
  readonly text: string;
}

/** What reading a document came to. */
export interface IndexedDocument {
  /** Name of its content as this version of the loaders reads it: alike wherever the same bytes are stored. */
  readonly id: string;
  /** What it calls itself; empty if it does not. */
  readonly title: string;
  readonly format: string;
  readonly passages: number;
  /** Estimated. */
  readonly tokens: number;
  /** What of it could not be read, in a sentence for the user; undefined if all could. */
  readonly note: string | undefined;
  /** Why there is nothing of it, in a sentence for the user; undefined if there is. */
  readonly failure: string | undefined;
}

export interface PassageHit {
  readonly document: string;
  readonly nth: number;
}

/** A passage that shares words with a question. */
export interface WordHit extends PassageHit {
  /** Of the question's telling words, how many the passage or its headings have: from 0 to 1. */
  readonly matchedShare: number;
  /** Of what the question names exactly (codes, numbers, names of files), how much it has: from 0 to 1; 0 where it names nothing. */
  readonly exactShare: number;
}

/** Vectors of passages that follow each other, one behind the other. */
export interface VectorRun {
  /** `nth` of the first passage. */
  readonly first: number;
  readonly count: number;
  readonly vectors: Float32Array;
}

/** Vectors are of one document and made by one model. */
export interface VectorKey {
  readonly document: string;
  readonly model: string;
}

/** The right to do something that only one node shall do at a time. */
export interface Lease {
  readonly name: string;
  /** Whose it is: a text of its own for each node. */
  readonly owner: string;
  readonly nowMs: number;
  readonly untilMs: number;
}

/**
 * Port: what is known of the words in stored files, by content: one index for all applications and nodes. Each step is
 * atomic and durable once it resolves. Throws StoreFault.
 */
export interface PassageIndex {
  /** A name for the content that a blob has, alike for equal bytes; undefined if nobody has noted it. */
  findContent(blob: string): Promise<string | undefined>;
  recordContent(blob: string, content: string): Promise<void>;
  /** Takes or prolongs a lease; false if somebody else has it. */
  claim(lease: Lease): Promise<boolean>;
  release(lease: Pick<Lease, 'name' | 'owner'>): Promise<void>;
  /** Undefined as long as it was not read to its end. */
  find(document: string): Promise<IndexedDocument | undefined>;
  /** Makes room for the passages of a document: what an earlier attempt left is gone. `content` is what `noteContent` calls it. */
  begin(document: string, content: string): Promise<void>;
  addPassages(document: Pick<IndexedDocument, 'id' | 'title'>, passages: readonly Passage[]): Promise<void>;
  /** Says that all passages are there; false if the document was dropped meanwhile. */
  finish(document: IndexedDocument): Promise<boolean>;
  /** Forgets a document with its passages and vectors. */
  drop(document: string): Promise<void>;
  /** Passages of a document with `from <= nth < to`, in order. */
  read(document: string, from: number, to: number): Promise<readonly Passage[]>;
  /** Passages of these documents that share words with a text, best first: those with what the text names exactly before all others. */
  searchWords(text: string, documents: readonly string[], limit: number): Promise<readonly WordHit[]>;
  addVectors(key: VectorKey, run: VectorRun): Promise<void>;
  /** In order of the passages; there may be none yet for some. */
  vectors(key: VectorKey): Promise<readonly VectorRun[]>;
  /** How many passages have a vector: those from the first on. */
  countVectors(key: VectorKey): Promise<number>;
  /** Drops what no stored file has any more. */
  sweep(): Promise<void>;
}

/** How far a document of an application is on its way into the index. */
export interface DocumentProgress {
  /** As the model and the user know it, unlike the others. */
  readonly name: string;
  /** As the application names it. */
  readonly reference: string;
  /** `ready`: found by its words and by what it means. */
  readonly state: 'waiting' | 'indexing' | 'ready' | 'failed';
  /** Whether its words are found already. */
  readonly isSearchable: boolean;
  /** Why it failed, or what of it could not be read, in a sentence for the user; undefined if all is well. */
  readonly reason: string | undefined;
  /** Passages that are found by what they mean. */
  readonly done: number;
  /** Its passages; undefined until it was read. */
  readonly total: number | undefined;
}
