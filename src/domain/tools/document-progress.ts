/** How far a document of an application is on its way into the index. */
export interface DocumentProgress {
  /** As the model and the user know it, unlike the others. */
  readonly name: string;
  /** As the application names it. */
  readonly reference: string;
  /** `ready`: found by its words and by what it means. */
  readonly state: 'waiting' | 'indexing' | 'ready' | 'failed';
  /** Whether its words are found already. */
  readonly isSearchable: boolean;
  /** Why it failed, or what of it could not be read, in a sentence for the user; undefined if all is well. */
  readonly reason: string | undefined;
  /** Passages that are found by what they mean. */
  readonly done: number;
  /** Its passages; undefined until it was read. */
  readonly total: number | undefined;
}
