import { type ReactNode, useCallback, useId, useState } from 'react';
import { useWords } from '../words/words.tsx';
import { useShownDialog } from './use-shown-dialog.ts';
import './question-dialog.css';
import { createPortal } from 'react-dom';

interface QuestionDialogProps {
  readonly question: string;
  /** What the button says that does it. Absent: the dialog only says something. */
  readonly answer?: string;
  readonly act?: () => void;
  /** Label of the second button. The default is the label for cancel. */
  readonly stay?: string;
  readonly close: () => void;
}

/** Asks before something is done that cannot be undone. Escape, Cancel and a click beside it leave everything as it was. */
export function QuestionDialog({ question, answer, act, stay, close }: QuestionDialogProps) {
  const words = useWords();
  const { dialog, leave } = useShownDialog(close);
  const text = useId();
  const agree = (): void => {
    dialog.current?.close();
    act?.();
    close();
  };
  return (
    <dialog {...{ ref: dialog, className: 'question-dialog', 'aria-labelledby': text, closedby: 'any' }}>
      <p id={text}>{question}</p>
      <div className="row end">
        <button type="button" className="button" onClick={leave}>
          {stay ?? words.cancel}
        </button>
        {answer !== undefined && (
          <button type="button" className="button danger" onClick={agree}>
            {answer}
          </button>
        )}
      </div>
    </dialog>
  );
}

interface Question {
  readonly question: string;
  /** What the button says that does it. */
  readonly answer: string;
  readonly settle: (isYes: boolean) => void;
}

/** Asks before something is done that cannot be undone; resolves with what was answered. `dialog` is to be drawn somewhere. */
export function useQuestion(): {
  readonly ask: (question: string, answer: string) => Promise<boolean>;
  readonly dialog: ReactNode;
} {
  const [asked, setAsked] = useState<Question>();
  const ask = useCallback(
    (question: string, answer: string): Promise<boolean> => new Promise((settle) => setAsked({ question, answer, settle })),
    [],
  );
  const close = (): void => {
    asked?.settle(false);
    setAsked(undefined);
  };
  const act = (): void => asked?.settle(true);
  // Not inside a menu that may be folded, or a drawer that is shut: nothing of it would be seen.
  return { ask, dialog: asked && createPortal(<QuestionDialog {...asked} {...{ act, close }} />, document.body) };
}
