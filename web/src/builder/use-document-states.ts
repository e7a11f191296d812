import { useEffect, useState } from 'react';
import { usePage } from '../page/page.tsx';
import { useBuilderWords } from './builder-words.ts';
import { type DocumentStates, isUnderWay, readDocumentStates } from './document-states.ts';
import type { SavedForm } from './form.ts';

const lookAgainMs = 1500;
const nothing: DocumentStates = new Map();

/** How far the documents of an application are, as it is saved; asked again and again for as long as some are on their way. */
export function useDocumentStates(saved: SavedForm | undefined): DocumentStates {
  const { service, announce } = usePage();
  const { documentsRead } = useBuilderWords();
  const [states, setStates] = useState(nothing);
  const [id, etag] = [saved?.id, saved?.etag];
  // biome-ignore lint/correctness/useExhaustiveDependencies: another etag is another application
  useEffect(() => {
    if (id === undefined) return undefined;
    const leaving = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let wasUnderWay = false;
    const look = async (): Promise<void> => {
      const now = await readDocumentStates(service, id, leaving.signal);
      if (leaving.signal.aborted) return;
      setStates(now);
      const isOver = ![...now.values()].some(isUnderWay);
      if (isOver && wasUnderWay) announce(documentsRead);
      wasUnderWay = !isOver;
      // What cannot be asked for is not shown: the answers do not depend on it.
      if (!isOver) timer = setTimeout(() => void look().catch(() => undefined), lookAgainMs);
    };
    void look().catch(() => undefined);
    return () => {
      leaving.abort();
      clearTimeout(timer);
    };
  }, [service, announce, documentsRead, id, etag]);
  return states;
}
