/** A database without a recorded location of its file contents. */
export interface UnlocatedDatabase {
  /** Name of the database. */
  readonly database: string;
  /** Names of up to 10 blobs of its files, to recognize their location. Empty if it has no files. */
  readonly blobs: readonly string[];
}

/**
 * Port that names the location of a database's file contents. The location stores the name in a claim, which is compared with the
 * name in the database. Throws `StoreError`.
 */
export interface ContentsLocation {
  /**
   * Returns the name of the location, which is recorded once for all nodes. If no name is recorded, records the name that
   * `choose` returns while other nodes wait. Returns undefined if `choose` returns undefined.
   */
  resolveName(choose: (database: UnlocatedDatabase) => Promise<string | undefined>): Promise<string | undefined>;
}
