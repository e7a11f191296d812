import { type ReactNode, useEffect } from 'react';
import { usePage } from '../page/page.tsx';
import { useQuestion } from '../parts/use-question.tsx';

/**
 * Asks before the place is left, by whatever leads away: a link, a key, the browser's way back. The address is put back first, and
 * followed once that was answered. Gives the question, which is to be drawn.
 */
export function useLeaveQuestion(isOn: boolean, question: string, answer: string): ReactNode {
  const { hold } = usePage();
  const { ask, dialog } = useQuestion();
  useEffect(() => {
    if (!isOn) return;
    const here = location.hash;
    const keep = (event: BeforeUnloadEvent): void => event.preventDefault();
    addEventListener('beforeunload', keep);
    hold?.((wanted) => {
      history.pushState(history.state, '', here);
      void ask(question, answer).then((isYes) => {
        if (!isYes) return;
        hold(undefined);
        location.hash = wanted;
      });
      return true;
    });
    return () => {
      removeEventListener('beforeunload', keep);
      hold?.(undefined);
    };
  }, [isOn, question, answer, ask, hold]);
  return dialog;
}
