import { useEffect, useId, useRef } from 'react';
import { useWords } from '../words/words.tsx';
import './question-dialog.css';

interface QuestionDialogProps {
  readonly question: string;
  /** What the button says that does it. */
  readonly answer: string;
  readonly act: () => void;
  readonly close: () => void;
}

/** Asks before something is done that cannot be undone. Escape, Cancel and a click beside it leave everything as it was. */
export function QuestionDialog({ question, answer, act, close }: QuestionDialogProps) {
  const words = useWords();
  const dialog = useRef<HTMLDialogElement>(null);
  const text = useId();
  useEffect(() => {
    if (dialog.current?.open === false) dialog.current.showModal();
  });
  // The event of a native close comes later; by then another question may be asked.
  const leave = (then?: () => void): void => {
    dialog.current?.close();
    then?.();
    close();
  };
  return (
    <dialog
      {...{ ref: dialog, className: 'question-dialog', 'aria-labelledby': text, closedby: 'any' }}
      onCancel={() => leave()}
      onClose={close}
    >
      <p id={text}>{question}</p>
      <div className="row end">
        <button type="button" className="button" onClick={() => leave()}>
          {words.cancel}
        </button>
        <button type="button" className="button danger" onClick={() => leave(act)}>
          {answer}
        </button>
      </div>
    </dialog>
  );
}
