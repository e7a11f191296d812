import { useEffect, useRef } from 'react';
import type { Turn } from '../conversation/conversation.ts';
import { useNameOf, usePage } from '../page/page.tsx';
import { useWords } from '../words/words.tsx';

/** Tells listeners when an answer begins and ends, and nothing in between. */
export function useAnnouncements(last: Turn | undefined): void {
  const words = useWords();
  const nameOf = useNameOf();
  const { announce } = usePage();
  const [state, text] = last?.kind === 'reply' ? [last.state, last.text] : [];
  const before = useRef<typeof state>(undefined);
  useEffect(() => {
    if (state === before.current) return;
    const wasRunning = before.current === 'running';
    before.current = state;
    if (state === 'running' && last?.kind === 'reply') announce(words.answerStarted(nameOf(last.deployment)));
    else if (state === 'failed') announce(words.answerFailed);
    else if (state !== undefined && wasRunning) announce(words.answerDone((text ?? '').split(/\s+/).filter(Boolean).length));
  });
}
