import type { AlertDelivery } from '#domain/limits/alert-store.ts';
import type { ColumnTypes } from '../engine/column-types.ts';

/** Tables of the limit counters, and of the webhooks about limits. */
export interface LimitSchema {
  readonly limit_counters: LimitCounterRow;
  readonly alert_deliveries: AlertRow;
}

export interface LimitCounterRow {
  /** SHA-256 of the owner, the window, and the holder, because a holder may be too long for an index. */
  readonly id: string;
  /** The node that counted. */
  readonly owner: string;
  /** Name of the window, for example `tokens/month`. */
  readonly period: string;
  /** JSON text. */
  readonly holder: string;
  readonly ends_at_ms: number;
  readonly used: number;
}

export interface AlertRow {
  readonly id: string;
  readonly alert: string;
  /** JSON. */
  readonly body: string;
  readonly created_at_ms: number;
  readonly status: AlertDelivery['status'];
  readonly attempts: number;
  /** Time of the next attempt by the clock of the database. Null if there is none. */
  readonly next_at_ms: number | null;
  readonly error: string | null;
  readonly expires_at_ms: number;
  /** Null in rows of earlier versions. */
  readonly attempted_at_ms: number | null;
}

export function createLimitCounterTable({ key }: ColumnTypes): readonly string[] {
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

export function createAlertTable({ key }: ColumnTypes): readonly string[] {
  return [
    `create table alert_deliveries (
      id ${key} not null primary key,
      alert text not null,
      body text not null,
      created_at_ms bigint not null,
      status text not null,
      attempts integer not null,
      next_at_ms bigint,
      error text,
      expires_at_ms bigint not null
    )`,
    'create index alert_deliveries_open on alert_deliveries (next_at_ms) where next_at_ms is not null',
    'create index alert_deliveries_in_time on alert_deliveries (created_at_ms, id)',
    'create index alert_deliveries_expired on alert_deliveries (expires_at_ms)',
  ];
}

/** Adds the time of the last attempt, and an index for the state of each alert. */
export function addAlertAttempts(): readonly string[] {
  return [
    'alter table alert_deliveries add column attempted_at_ms bigint',
    'create index alert_deliveries_of_alert on alert_deliveries (alert, status, attempted_at_ms)',
  ];
}
