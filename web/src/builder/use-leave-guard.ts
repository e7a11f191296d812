import { useEffect, useRef } from 'react';

/** Asks before the page, or this part of it, is left with what is not saved. */
export function useLeaveGuard(isOn: boolean, question: string): void {
  useEffect(() => {
    if (!isOn) return;
    const keep = (event: BeforeUnloadEvent): void => event.preventDefault();
    const ask = (event: MouseEvent): void => {
      const link = event.target instanceof Element ? event.target.closest('a[href^="#"]') : null;
      if (link === null || confirm(question)) return;
      event.preventDefault();
      event.stopPropagation();
    };
    addEventListener('beforeunload', keep);
    document.addEventListener('click', ask, { capture: true });
    return () => {
      removeEventListener('beforeunload', keep);
      document.removeEventListener('click', ask, { capture: true });
    };
  }, [isOn, question]);
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
