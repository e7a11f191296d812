import { useDeferredValue, useEffect, useMemo, useState } from 'react';
import type { Head } from '../conversation/database.ts';
import type { Found } from '../conversation/deep-search.ts';
import { findHeads } from '../conversation/library.ts';
import { useHeads, usePage } from './page.tsx';

/** Lines around what was searched for, by the ids of conversations. */
export type Excerpts = ReadonlyMap<string, string>;

const nothing = { asked: '', ids: new Set<string>(), isDone: true };
const none: Excerpts = new Map();

export interface FoundHeads {
  readonly heads: readonly Head[];
  readonly excerpts: Excerpts;
  /** There may be more of them. */
  readonly isSearching: boolean;
}

/** The conversations in which every word of the query stands: at once by their beginnings, then by all that was said. */
export function useFoundHeads(query: string): FoundHeads {
  const { library } = usePage();
  const heads = useHeads();
  const asked = useDeferredValue(query);
  const [later, setLater] = useState(nothing);
  // Those of the search before stay until this one is done: a line that goes and comes moves the list.
  const [excerpts, setExcerpts] = useState(none);
  useEffect(() => {
    if (asked.trim() === '') return setExcerpts(none);
    const leaving = new AbortController();
    const { signal } = leaving;
    const fresh = new Map<string, string>();
    setLater({ ...nothing, asked, isDone: false });
    const tell = (more: readonly Found[]): void => {
      setLater((now) => ({ ...now, ids: new Set([...now.ids, ...more.map(({ id }) => id)]) }));
      for (const { id, excerpt } of more) if (excerpt !== undefined) fresh.set(id, excerpt);
      setExcerpts((now) => new Map([...now, ...fresh]));
    };
    const end = (): void => {
      if (signal.aborted) return;
      setLater((now) => ({ ...now, isDone: true }));
      setExcerpts(fresh);
    };
    library.searchLong(asked, { signal, tell }).then(end, end);
    return () => leaving.abort();
  }, [library, asked]);
  const ids = later.asked === asked ? later.ids : nothing.ids;
  const found = useMemo(() => {
    if (asked.trim() === '') return heads;
    const atOnce = new Set(findHeads(heads, asked));
    return heads.filter((head) => atOnce.has(head) || ids.has(head.id));
  }, [heads, asked, ids]);
  const isSearching = query !== asked || (asked.trim() !== '' && !(later.asked === asked && later.isDone));
  return { heads: found, excerpts, isSearching };
}
