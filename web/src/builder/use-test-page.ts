import { useEffect, useMemo } from 'react';
import { Asking } from '../conversation/asking.ts';
import { forgetfulDatabase } from '../conversation/database.ts';
import { Library } from '../conversation/library.ts';
import { Outbox } from '../conversation/outbox.ts';
import { type Page, usePage } from '../page/page.tsx';

/** What makes the service tell who may edit an application how it works (docs/quick-apps.md). */
const headers = { 'x-parley-trace': 'true' };
const drawnEveryMs = 50;

/** The page for a chat that nobody keeps, and whose answers tell how they came about. */
export function useTestPage(): Page {
  const page = usePage();
  const { service } = page;
  const chat = useMemo(() => {
    const library = new Library(forgetfulDatabase());
    const parts = { service, library, headers, nextFrame: (act: () => void) => void setTimeout(act, drawnEveryMs) };
    const asking = new Asking(parts);
    return { library, asking, outbox: new Outbox({ library, asking }) };
  }, [service]);
  useEffect(() => () => chat.asking.stopAll(), [chat]);
  return useMemo(() => ({ ...page, ...chat, isTest: true }), [page, chat]);
}
