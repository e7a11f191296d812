import { type ReactNode, useEffect } from 'react';
import { usePage } from '../shell/page.tsx';
import { useConfirmation } from './question-dialog.tsx';

/**
 * Asks before the user leaves by a link, a key, or the back button. The address is restored first, and followed after
 * confirmation. Returns the dialog to render.
 */
export function useLeaveQuestion(isOn: boolean, question: string, confirmLabel: string): ReactNode {
  const { blockNavigation } = usePage();
  const { askConfirmation, dialog } = useConfirmation();
  useEffect(() => {
    if (!isOn) return;
    const here = location.hash;
    const preventUnload = (event: BeforeUnloadEvent): void => event.preventDefault();
    addEventListener('beforeunload', preventUnload);
    blockNavigation?.((targetHash) => {
      history.pushState(history.state, '', here);
      void askConfirmation(question, confirmLabel).then((isConfirmed) => {
        if (!isConfirmed) return;
        blockNavigation(undefined);
        location.hash = targetHash;
      });
      return true;
    });
    return () => {
      removeEventListener('beforeunload', preventUnload);
      blockNavigation?.(undefined);
    };
  }, [isOn, question, confirmLabel, askConfirmation, blockNavigation]);
  return dialog;
}
