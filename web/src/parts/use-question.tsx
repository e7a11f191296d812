import { type ReactNode, useCallback, useState } from 'react';
import { createPortal } from 'react-dom';
import { QuestionDialog } from './question-dialog.tsx';

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
