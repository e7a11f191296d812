/** Data that a released version stored, with its answers. `scripts/make-upgrade-fixture.ts` creates it. */
export interface UpgradeFixture {
  readonly configuration: { readonly keys: Readonly<Record<string, unknown>> };
  /** PARLEY_SECRET. Undefined if the data folder has the secret. */
  readonly secret: string | undefined;
  /** Files of the data folder in Base64, by their path. */
  readonly files: Readonly<Record<string, string>>;
  /** Statements that create the PostgreSQL database. Undefined if the database is in the data folder. */
  readonly dump: string | undefined;
  readonly answers: readonly RecordedAnswer[];
}

/** A GET request with the body of the answer, as JSON if it is an object. */
export interface RecordedAnswer {
  readonly key: string;
  readonly path: string;
  readonly body: unknown;
}
