import { type ReactNode, useCallback, useId, useState } from 'react';
import { useStrings } from '../strings/strings.tsx';
import { TextButton } from './icon.tsx';
import { useModalDialog } from './use-modal-dialog.ts';
import './question-dialog.css';
import { createPortal } from 'react-dom';

interface QuestionDialogProps {
  readonly question: string;
  /** Label of the confirm button. Without it, the dialog only shows a message. */
  readonly confirmLabel?: string;
  readonly onConfirm?: () => void;
  /** Label of the second button. The default is the label for cancel. */
  readonly cancelLabel?: string;
  readonly onClose: () => void;
  /** Fields between the question and the buttons. */
  readonly children?: ReactNode;
}

/** Asks before an action that cannot be undone. Escape, Cancel, and a click outside change nothing. */
export function QuestionDialog({ question, confirmLabel, onConfirm, cancelLabel, onClose, children }: QuestionDialogProps) {
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
      {children}
      <div className="row end">
        <TextButton onClick={closeDialog}>{cancelLabel ?? strings.cancel}</TextButton>
        {confirmLabel !== undefined && (
          <TextButton className="button danger" onClick={confirm}>
            {confirmLabel}
          </TextButton>
        )}
      </div>
    </dialog>
  );
}

interface PendingQuestion {
  readonly question: string;
  /** Label of the confirm button. */
  readonly confirmLabel: string;
  readonly onSettle: (isConfirmed: boolean) => void;
}

/** Asks before an action that cannot be undone. Resolves with the answer. The caller renders `dialog`. */
export function useConfirmation(): {
  readonly askConfirmation: (question: string, confirmLabel: string) => Promise<boolean>;
  readonly dialog: ReactNode;
} {
  const [pending, setPending] = useState<PendingQuestion>();
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
  // Rendered outside closed menus and drawers, which would hide it.
  return {
    askConfirmation,
    dialog: pending && createPortal(<QuestionDialog {...pending} {...{ onConfirm, onClose }} />, document.body),
  };
}
