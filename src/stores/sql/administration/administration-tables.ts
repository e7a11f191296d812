import type { ColumnTypes } from '../engine/column-types.ts';

/** Tables of the entries that administrators create at run time, of the configuration files in force, and of the running nodes. */
export interface AdministrationSchema {
  readonly runtime_entries: EntryRow;
  readonly runtime_changes: ChangeRow;
  readonly runtime_revision: RevisionRow;
  readonly runtime_revoked_keys: RevokedKeyRow;
  readonly file_layer: FileLayerRow;
  readonly nodes: NodeRow;
}

/** Configuration files that all nodes use. The table has at most one row. */
interface FileLayerRow {
  readonly id: number;
  /** Revision of the write that stored the files. */
  readonly revision: number;
  readonly digest: string;
  /** JSON, sealed. */
  readonly sealed_files: string;
}

export interface EntryRow {
  readonly kind: string;
  readonly id: string;
  readonly revision: number;
  readonly created_at_ms: number;
  readonly updated_at_ms: number;
  /** JSON, sealed for kind and ID. Null if the entry is deleted. The row stays for a while, so that running nodes read the deletion. */
  readonly sealed_entry: string | null;
}

export interface ChangeRow {
  readonly id: string;
  readonly revision: number;
  readonly at_ms: number;
  readonly author: string;
  readonly action: string;
  /** ID of the change that this change undoes. */
  readonly undoes: string | null;
  /** JSON, sealed for the ID of the change. */
  readonly sealed_writes: string;
  /** Null in changes of earlier versions. */
  readonly write_count: number | null;
  /** First writes, which lists show, sealed for the ID of the change. Null for a change with few writes, or of an earlier version. */
  readonly sealed_first_writes: string | null;
}

interface RevisionRow {
  /** Latest revision. The lock of this row serializes changes. */
  readonly revision: number;
}

/** Digest of a key that was deleted or replaced. */
interface RevokedKeyRow {
  readonly sha256: string;
  readonly at_ms: number;
}

interface NodeRow {
  readonly node: string;
  /** Expiry time of the record, by the clock of the database. The node renews the record before. */
  readonly until_ms: number;
  readonly files_digest: string | null;
  /** JSON. */
  readonly report: string;
}

/** Creates the tables of entries, their changes, and revoked keys. Every node polls the revision to find changes. */
export function createEntryTables({ key }: ColumnTypes): readonly string[] {
  return [
    `create table runtime_entries (
      kind ${key} not null,
      id ${key} not null,
      revision bigint not null,
      created_at_ms bigint not null,
      updated_at_ms bigint not null,
      sealed_entry text,
      primary key (kind, id)
    )`,
    'create index runtime_entries_changed on runtime_entries (revision)',
    `create table runtime_changes (
      id ${key} not null primary key,
      revision bigint not null,
      at_ms bigint not null,
      author text not null,
      action text not null,
      undoes text,
      sealed_writes text not null
    )`,
    'create index runtime_changes_in_order on runtime_changes (revision)',
    `create table runtime_revoked_keys (sha256 ${key} not null primary key, at_ms bigint not null)`,
    'create table runtime_revision (revision bigint not null)',
    'insert into runtime_revision (revision) values (0)',
  ];
}

/** Creates the table of nodes, and the table of the configuration files that are in force. */
export function createNodeTables({ key }: ColumnTypes): readonly string[] {
  return [
    `create table nodes (
      node ${key} not null primary key,
      until_ms bigint not null,
      files_digest text,
      report text not null
    )`,
    `create table file_layer (
      id integer not null primary key,
      revision bigint not null,
      digest text not null,
      sealed_files text not null
    )`,
  ];
}

/** Adds columns for the first writes of a change, so that a list of changes does not read all writes. */
export function addFirstWrites(): readonly string[] {
  return [
    'alter table runtime_changes add column write_count integer',
    'alter table runtime_changes add column sealed_first_writes text',
  ];
}
