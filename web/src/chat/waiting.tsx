import { useEffect, useState, useSyncExternalStore } from 'react';
import { mostRetries, type Retry } from '../conversation/ask-patiently.ts';
import { usePage } from '../page/page.tsx';
import { saidOfAnswer } from '../words/fault-words.ts';
import { useWords } from '../words/words.tsx';

const longMs = 10_000;

/** Says that an answer is on its way; that it is asked for again, and why; after a while that it still is, or that there is no network. */
export function Waiting({ replyId }: { readonly replyId: string }) {
  const words = useWords();
  const { asking } = usePage();
  const [isLong, setIsLong] = useState(false);
  const isOnline = useOnline();
  const retry = useSyncExternalStore(asking.hearRetries, () => asking.retryOf(replyId));
  useEffect(() => {
    const timer = setTimeout(() => setIsLong(true), longMs);
    return () => clearTimeout(timer);
  }, []);
  return (
    <p className="waiting soft">
      <span className="pulse" aria-hidden="true" />
      {isOnline && retry !== undefined && <RetryNote retry={retry} />}
      {isOnline && retry === undefined && (isLong ? words.stillWaiting : words.waiting)}
      {!isOnline && words.waitingOffline}
    </p>
  );
}

/** Why nothing came, and when the same is asked again. */
function RetryNote({ retry: { fault, atMs, number } }: { readonly retry: Retry }) {
  const words = useWords();
  const [nowMs, setNowMs] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.max(0, Math.ceil((atMs - nowMs) / 1000));
  return `${saidOfAnswer(fault, words)} ${words.tryingAgain(seconds, number, mostRetries)}`;
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
