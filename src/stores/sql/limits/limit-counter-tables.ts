import type { ColumnTypes } from '../engine/column-types.ts';

export interface LimitCounterSchema {
  readonly limit_counters: LimitCounterRow;
}

export interface LimitCounterRow {
  /** SHA-256 of the owner, the window, and the holder, because a holder may be too long for an index. */
  readonly id: string;
  /** The node that counted. */
  readonly owner: string;
  /** For example `tokens/month`. */
  readonly period: string;
  /** JSON text. */
  readonly holder: string;
  readonly ends_at_ms: number;
  readonly used: number;
}

export function toLimitCounterTable({ key }: ColumnTypes): readonly string[] {
  return [
    `create table limit_counters (
      id ${key} not null primary key,
      owner text not null,
      period text not null,
      holder text not null,
      ends_at_ms bigint not null,
      used bigint not null
    )`,
    'create index limit_counters_ended on limit_counters (ends_at_ms)',
  ];
}
