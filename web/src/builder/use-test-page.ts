import { useEffect, useMemo } from 'react';
import { createForgetfulChat } from '../conversation/forgetful-chat.ts';
import { type Page, usePage } from '../page/page.tsx';

/** What makes the service tell who may edit an application how it works (docs/quick-apps.md). */
const headers = { 'x-parley-trace': 'true' };
const drawnEveryMs = 50;

/** The page for a chat that nobody keeps, and whose answers tell how they came about. */
export function useTestPage(): Page {
  const page = usePage();
  const { service } = page;
  const chat = useMemo(() => {
    const nextFrame = (act: () => void): void => void setTimeout(act, drawnEveryMs);
    return createForgetfulChat({ service, headers, nextFrame });
  }, [service]);
  useEffect(() => () => chat.asking.stopAll(), [chat]);
  return useMemo(() => ({ ...page, ...chat, isTest: true }), [page, chat]);
}
