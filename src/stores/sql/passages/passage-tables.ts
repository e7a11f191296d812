import type { Generated } from 'kysely';
import type { ColumnTypes } from '../engine/column-types.ts';

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
  /** End by the clock of the database. */
  readonly until_ms: number;
}

/** Creates the tables of the passage index. The full-text index of the words is a separate table without the text. */
export function createPassageTables({ key, engine }: ColumnTypes): readonly string[] {
  return [
    `create table file_contents (
    blob ${key} not null primary key,
    content ${key} not null
  )`,
    'create index file_contents_alike on file_contents (content)',
    `create table indexed_documents (
    id ${key} not null primary key,
    content ${key} not null,
    title text not null,
    format text not null,
    passages integer not null,
    tokens integer not null,
    note text,
    failure text,
    is_whole integer not null
  )`,
    `create table passages (
    id ${engine === 'sqlite' ? 'integer primary key' : 'bigint generated always as identity primary key'},
    document ${key} not null,
    nth integer not null,
    page integer,
    headings text not null,
    text text not null,
    unique (document, nth)
  )`,
    `create table passage_vectors (
    document ${key} not null,
    model ${key} not null,
    first integer not null,
    count integer not null,
    vectors ${engine === 'sqlite' ? 'blob' : 'bytea'} not null,
    primary key (document, model, first)
  )`,
    `create table leases (
    name ${key} not null primary key,
    owner text not null,
    until_ms bigint not null
  )`,
    ...wordTables[engine](key),
  ];
}

const wordTables: Readonly<Record<ColumnTypes['engine'], (key: string) => readonly string[]>> = {
  sqlite: () => [
    "create virtual table passage_words using fts5(document, words, content='', contentless_delete=1, tokenize='porter unicode61')",
    `create trigger passages_dropped after delete on passages begin
      delete from passage_words where rowid = old.id;
    end`,
  ],
  postgres: (key) => [
    `create table passage_words (
      id bigint not null primary key references passages (id) on delete cascade,
      document ${key} not null,
      words tsvector not null
    )`,
    'create index passage_words_of_document on passage_words (document)',
    'create index passage_words_found on passage_words using gin (words)',
  ],
};
