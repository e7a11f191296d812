import { type ReactNode, useCallback, useId, useState } from 'react';
import { useStrings } from '../strings/strings.tsx';
import { useModalDialog } from './use-modal-dialog.ts';
import './question-dialog.css';
import { createPortal } from 'react-dom';

interface QuestionDialogProps {
  readonly question: string;
  /** What the button says that does it. Absent: the dialog only says something. */
  readonly confirmLabel?: string;
  readonly onConfirm?: () => void;
  /** Label of the second button. The default is the label for cancel. */
  readonly cancelLabel?: string;
  readonly onClose: () => void;
}

/** Asks before something is done that cannot be undone. Escape, Cancel and a click beside it leave everything as it was. */
export function QuestionDialog({ question, confirmLabel, onConfirm, cancelLabel, onClose }: QuestionDialogProps) {
  const strings = useStrings();
  const { dialog, closeDialog } = useModalDialog(onClose);
  const textId = useId();
  const confirm = (): void => {
    dialog.current?.close();
    onConfirm?.();
    onClose();
  };
  return (
    <dialog {...{ ref: dialog, className: 'question-dialog', 'aria-labelledby': textId, closedby: 'any' }}>
      <p id={textId}>{question}</p>
      <div className="row end">
        <button type="button" className="button" onClick={closeDialog}>
          {cancelLabel ?? strings.cancel}
        </button>
        {confirmLabel !== undefined && (
          <button type="button" className="button danger" onClick={confirm}>
            {confirmLabel}
          </button>
        )}
      </div>
    </dialog>
  );
}

interface Question {
  readonly question: string;
  /** What the button says that does it. */
  readonly confirmLabel: string;
  readonly onSettle: (isConfirmed: boolean) => void;
}

/** Asks before something is done that cannot be undone; resolves with what was answered. `dialog` is to be drawn somewhere. */
export function useConfirmation(): {
  readonly askConfirmation: (question: string, confirmLabel: string) => Promise<boolean>;
  readonly dialog: ReactNode;
} {
  const [pending, setPending] = useState<Question>();
  const askConfirmation = useCallback(
    (question: string, confirmLabel: string): Promise<boolean> =>
      new Promise((onSettle) => setPending({ question, confirmLabel, onSettle })),
    [],
  );
  const onClose = (): void => {
    pending?.onSettle(false);
    setPending(undefined);
  };
  const onConfirm = (): void => pending?.onSettle(true);
  // Not inside a menu that may be folded, or a drawer that is shut: nothing of it would be seen.
  return {
    askConfirmation,
    dialog: pending && createPortal(<QuestionDialog {...pending} {...{ onConfirm, onClose }} />, document.body),
  };
}
