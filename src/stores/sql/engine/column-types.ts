/** What differs between the engines in how tables are made. */
export interface ColumnTypes {
  readonly engine: 'sqlite' | 'postgres';
  /** Text that is compared and ordered by code points, whatever the language of the database is. */
  readonly key: string;
}
