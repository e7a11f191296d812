/** What is known while no place is recorded. */
export interface UnplacedContents {
  /** The name of the database. */
  readonly database: string;
  /** Some contents that its files use; empty if it has no files. */
  readonly blobs: readonly string[];
}

/** Port: where the contents of a database's files lie, by a name that is in that place too. Throws StoreFault. */
export interface ContentsLocation {
  /**
   * The name of the place, which is recorded once, for all nodes. If it is not, the one that `choose` gives is, while every
   * other node that asks waits; undefined if it gives none.
   */
  name(choose: (unplaced: UnplacedContents) => Promise<string | undefined>): Promise<string | undefined>;
}
