import { useDeferredValue, useEffect, useState } from 'react';
import type { Head } from '../conversation/database.ts';
import { findHeads } from '../conversation/library.ts';
import { useHeads, usePage } from './page.tsx';

const pauseMs = 200;
const none: ReadonlySet<string> = new Set();

/** The conversations in which every word of the query stands: at once by their beginnings, soon after by all that was said. */
export function useFoundHeads(query: string): readonly Head[] {
  const { library } = usePage();
  const heads = useHeads();
  const asked = useDeferredValue(query);
  const [later, setLater] = useState(none);
  useEffect(() => {
    setLater(none);
    if (asked.trim() === '') return;
    const leaving = new AbortController();
    const search = async (): Promise<void> => {
      const found = await library.searchLong(asked, leaving.signal);
      if (!leaving.signal.aborted) setLater(found);
    };
    const timer = setTimeout(() => void search(), pauseMs);
    return () => {
      clearTimeout(timer);
      leaving.abort();
    };
  }, [library, asked]);
  const found = new Set(findHeads(heads, asked));
  return heads.filter((head) => found.has(head) || later.has(head.id));
}
