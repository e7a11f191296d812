import { useEffect, useRef } from 'react';

/**
 * Calls `refresh` every so often while the page is seen, and as it comes to be seen again after that time; not while something of
 * it is marked, as text is that somebody is about to copy.
 */
export function useRefreshing(refresh: () => void, { everyMs, isOn }: { everyMs: number; isOn: boolean }): void {
  const latest = useRef(refresh);
  latest.current = refresh;
  useEffect(() => {
    if (!isOn) return;
    let dueMs = performance.now() + everyMs;
    const act = (): void => {
      if (document.hidden || performance.now() < dueMs || getSelection()?.type === 'Range') return;
      dueMs = performance.now() + everyMs;
      latest.current();
    };
    const timer = setInterval(act, 1000);
    document.addEventListener('visibilitychange', act);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', act);
    };
  }, [everyMs, isOn]);
}
