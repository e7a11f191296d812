/** An action that can be undone. */
export interface UndoOffer {
  /** Description of the action. */
  readonly message: string;
  readonly undo: () => void;
  /** Called if it is not undone. */
  readonly onExpire?: () => void;
}
