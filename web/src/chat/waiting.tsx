import { useEffect, useState } from 'react';
import { useWords } from '../words/words.tsx';

const longMs = 10_000;

/** Says that an answer is on its way; after a while that it still is, or that there is no network. */
export function Waiting() {
  const words = useWords();
  const [isLong, setIsLong] = useState(false);
  const isOnline = useOnline();
  useEffect(() => {
    const timer = setTimeout(() => setIsLong(true), longMs);
    return () => clearTimeout(timer);
  }, []);
  return (
    <p className="waiting soft">
      <span className="pulse" aria-hidden="true" />
      {isOnline ? (isLong ? words.stillWaiting : words.waiting) : words.waitingOffline}
    </p>
  );
}

function useOnline(): boolean {
  const [isOnline, setIsOnline] = useState(navigator.onLine);
  useEffect(() => {
    const look = (): void => setIsOnline(navigator.onLine);
    addEventListener('online', look);
    addEventListener('offline', look);
    return () => {
      removeEventListener('online', look);
      removeEventListener('offline', look);
    };
  }, []);
  return isOnline;
}
