import { useEffect, useRef } from 'react';
import type { Turn } from '../conversation/conversation.ts';
import { useGetName, usePage } from '../shell/page.tsx';
import { useStrings } from '../strings/strings.tsx';

/** Announces the start and end of an answer to screen readers. */
export function useAnnouncements(last: Turn | undefined): void {
  const strings = useStrings();
  const getName = useGetName();
  const { announce } = usePage();
  const [state, text] = last?.kind === 'reply' ? [last.state, last.text] : [];
  const previousState = useRef<typeof state>(undefined);
  useEffect(() => {
    if (state === previousState.current) return;
    const wasRunning = previousState.current === 'running';
    previousState.current = state;
    if (state === 'running' && last?.kind === 'reply') announce(strings.answerStarted(getName(last.deployment)));
    else if (state === 'failed') announce(strings.answerFailed);
    else if (state !== undefined && wasRunning) announce(strings.answerDone((text ?? '').split(/\s+/).filter(Boolean).length));
  });
}
