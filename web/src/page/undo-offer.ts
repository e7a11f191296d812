/** Something that was done a moment ago. */
export interface UndoOffer {
  /** What was done. */
  readonly message: string;
  readonly undo: () => void;
  /** Called if it is not undone. */
  readonly onExpire?: () => void;
}
