import { type ReactNode, useCallback, useState } from 'react';
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
  return { ask, dialog: asked && <QuestionDialog {...asked} act={() => asked.settle(true)} close={close} /> };
}
