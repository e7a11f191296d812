import { useId } from 'react';
import { useWords } from '../words/words.tsx';
import { useShownDialog } from './use-shown-dialog.ts';
import './question-dialog.css';

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
