import type { ColumnTypes } from '../engine/column-types.ts';

/** Creates the tables of cases and evaluations. Their rows are deleted with the application. */
export function createEvaluationTables({ key }: ColumnTypes): readonly string[] {
  return [
    `create table evaluation_cases (
      id ${key} not null primary key,
      application ${key} not null references applications (id) on delete cascade,
      version integer not null,
      sealed_entry text not null,
      created_at_ms bigint not null,
      updated_at_ms bigint not null
    )`,
    'create index evaluation_cases_of_application on evaluation_cases (application, version)',
    `create table evaluations (
      id ${key} not null primary key,
      application ${key} not null references applications (id) on delete cascade,
      version integer not null,
      subject ${key} not null,
      status text not null,
      owner text,
      total integer not null,
      passed integer not null,
      failed integer not null,
      errors integer not null,
      bytes bigint not null,
      started_at_ms bigint not null,
      ended_at_ms bigint,
      error text,
      cost_usd double precision,
      digest text
    )`,
    'create index evaluations_of_application on evaluations (application, started_at_ms)',
    'create index evaluations_of_subject on evaluations (subject, started_at_ms)',
    'create index evaluations_under_way on evaluations (owner) where owner is not null',
    `create table evaluation_results (
      evaluation ${key} not null references evaluations (id) on delete cascade,
      nth integer not null,
      sealed_entry text not null,
      primary key (evaluation, nth)
    )`,
  ];
}

/** Rows of cases and evaluations. Times are milliseconds since the epoch. */
export interface EvaluationSchema {
  readonly evaluation_cases: CaseRow;
  readonly evaluations: EvaluationRow;
  readonly evaluation_results: ResultRow;
}

export interface CaseRow {
  readonly id: string;
  readonly application: string;
  /** Number that orders the cases of the application. Starts at 1. A deleted case leaves a gap. */
  readonly version: number;
  /** JSON, sealed for the row's id. */
  readonly sealed_entry: string;
  readonly created_at_ms: number;
  readonly updated_at_ms: number;
}

export interface EvaluationRow {
  readonly id: string;
  readonly application: string;
  readonly version: number;
  readonly subject: string;
  readonly status: string;
  /** The node that runs it, or null after the end. */
  readonly owner: string | null;
  readonly total: number;
  readonly passed: number;
  readonly failed: number;
  readonly errors: number;
  /** Total length of its sealed results. */
  readonly bytes: number;
  readonly started_at_ms: number;
  readonly ended_at_ms: number | null;
  readonly error: string | null;
  readonly cost_usd: number | null;
  readonly digest: string | null;
}

/** A result, which is deleted with its evaluation. */
interface ResultRow {
  readonly evaluation: string;
  readonly nth: number;
  /** JSON, sealed for the evaluation's id and the result's number. */
  readonly sealed_entry: string;
}
