/** Differences between the engines in the definition of tables. */
export interface ColumnTypes {
  readonly engine: 'sqlite' | 'postgres';
  /** Type of text that is compared and ordered by code points, regardless of the language of the database. */
  readonly key: string;
}
