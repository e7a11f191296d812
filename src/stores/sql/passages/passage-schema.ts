import type { Generated } from 'kysely';

/** Tables of the passage index, a part of the schema. */
export interface PassageSchema {
  readonly file_contents: FileContentRow;
  readonly indexed_documents: DocumentRow;
  readonly passages: PassageRow;
  readonly passage_vectors: VectorRow;
  readonly leases: LeaseRow;
}

interface FileContentRow {
  readonly blob: string;
  readonly content: string;
}

export interface DocumentRow {
  readonly id: string;
  readonly content: string;
  readonly title: string;
  readonly format: string;
  readonly passages: number;
  readonly tokens: number;
  readonly note: string | null;
  readonly failure: string | null;
  /** 0 or 1: whether all passages of the document are stored. */
  readonly is_whole: number;
}

interface PassageRow {
  readonly id: Generated<number>;
  readonly document: string;
  readonly nth: number;
  readonly page: number | null;
  /** JSON array. */
  readonly headings: string;
  readonly text: string;
}

interface VectorRow {
  readonly document: string;
  readonly model: string;
  readonly first: number;
  readonly count: number;
  /** 32-bit floats, little-endian. */
  readonly vectors: Uint8Array;
}

interface LeaseRow {
  readonly name: string;
  readonly owner: string;
  readonly until_ms: number;
}
