import { useDeferredValue, useEffect, useMemo, useState } from 'react';
import type { Head } from '../conversation/database.ts';
import { findHeads } from '../conversation/library.ts';
import { useHeads, usePage } from './page.tsx';

const none: ReadonlySet<string> = new Set();

export interface FoundHeads {
  readonly heads: readonly Head[];
  /** There may be more of them. */
  readonly isSearching: boolean;
}

/** The conversations in which every word of the query stands: at once by their beginnings, then by all that was said. */
export function useFoundHeads(query: string): FoundHeads {
  const { library } = usePage();
  const heads = useHeads();
  const asked = useDeferredValue(query);
  const [later, setLater] = useState({ asked: '', ids: none, isDone: true });
  useEffect(() => {
    if (asked.trim() === '') return;
    const leaving = new AbortController();
    const { signal } = leaving;
    setLater({ asked, ids: none, isDone: false });
    const tell = (more: readonly string[]): undefined => {
      setLater((now) => ({ ...now, ids: new Set([...now.ids, ...more]) }));
    };
    const end = () => !signal.aborted && setLater((now) => ({ ...now, isDone: true }));
    library.searchLong(asked, { signal, tell }).then(end, end);
    return () => leaving.abort();
  }, [library, asked]);
  const ids = later.asked === asked ? later.ids : none;
  const found = useMemo(() => {
    if (asked.trim() === '') return heads;
    const atOnce = new Set(findHeads(heads, asked));
    return heads.filter((head) => atOnce.has(head) || ids.has(head.id));
  }, [heads, asked, ids]);
  return { heads: found, isSearching: query !== asked || (asked.trim() !== '' && !(later.asked === asked && later.isDone)) };
}
