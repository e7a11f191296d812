import type { ColumnTypes } from '../engine/column-types.ts';

/** Table of the running nodes. */
export interface NodeSchema {
  readonly nodes: NodeRow;
}

interface NodeRow {
  readonly node: string;
  readonly until_ms: number;
  readonly files_digest: string | null;
  /** JSON. */
  readonly report: string;
}

/** Statements that create the table of nodes, and the table of the configuration files that are in force. */
export function toNodeTables({ key }: ColumnTypes): readonly string[] {
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
