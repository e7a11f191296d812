import { type ReactNode, useEffect, useRef } from 'react';
import { useQuestion } from '../parts/use-question.tsx';

/** Asks before the page, or this part of it, is left with what is not saved. Gives the question, which is to be drawn. */
export function useLeaveGuard(isOn: boolean, question: string, answer: string): ReactNode {
  const { ask: askUser, dialog } = useQuestion();
  useEffect(() => {
    if (!isOn) return;
    const keep = (event: BeforeUnloadEvent): void => event.preventDefault();
    const ask = (event: MouseEvent): void => {
      const link = event.target instanceof Element ? event.target.closest('a[href^="#"]') : null;
      if (!(link instanceof HTMLAnchorElement) || link.hash === location.hash) return;
      event.preventDefault();
      event.stopPropagation();
      void askUser(question, answer).then((isYes) => {
        if (isYes) location.hash = link.hash;
      });
    };
    addEventListener('beforeunload', keep);
    document.addEventListener('click', ask, { capture: true });
    return () => {
      removeEventListener('beforeunload', keep);
      document.removeEventListener('click', ask, { capture: true });
    };
  }, [isOn, question, answer, askUser]);
  return dialog;
}

/** Ctrl + S, or ⌘ S. */
export function useSaveKey(save: () => void): void {
  const latest = useRef(save);
  useEffect(() => {
    latest.current = save;
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== 's' || !(event.ctrlKey || event.metaKey) || event.altKey) return;
      event.preventDefault();
      latest.current();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}
