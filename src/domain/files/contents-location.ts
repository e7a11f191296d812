/** State of a database without a recorded location. */
export interface UnlocatedDatabase {
  /** Name of the database. */
  readonly database: string;
  /** Some of the contents that its files use. Empty if it has no files. */
  readonly blobs: readonly string[];
}

/**
 * Port that names the location of a database's file contents. The location itself contains the same name. Throws `StoreError`.
 */
export interface ContentsLocation {
  /**
   * Returns the name of the location, which is recorded once for all nodes. If no name is recorded, records the name that
   * `choose` returns while other nodes wait. Returns undefined if `choose` returns undefined.
   */
  resolveName(choose: (database: UnlocatedDatabase) => Promise<string | undefined>): Promise<string | undefined>;
}
