import { memo, useDeferredValue, useEffect, useMemo, useRef, useState } from 'react';
import type { Head } from '../conversation/database.ts';
import type { Found } from '../conversation/deep-search.ts';
import { findHeads } from '../conversation/library.ts';
import { moveFocus } from '../parts/move-focus.ts';
import { useLanguage } from '../words/words.tsx';
import { HeadItem } from './head-item.tsx';
import { useHeads, usePage } from './page.tsx';

const drawnAtOnce = 100;
const nothing = { asked: '', ids: new Set<string>(), isDone: true };
const none: Excerpts = new Map();

interface HeadListProps {
  readonly heads: readonly Head[];
  readonly excerpts: Excerpts;
  /** What is searched for; '' for nothing. */
  readonly query: string;
  readonly empty: string;
  /** Any moment of it, the same one until tomorrow. */
  readonly todayMs: number;
}

/** Conversations by day, each with what is going on in it; as many as were scrolled to. Drawn anew only if they change. */
export const HeadList = memo(function HeadList({ heads, excerpts, query, empty, todayMs }: HeadListProps) {
  const { language, words } = useLanguage();
  const [most, setMost] = useState(drawnAtOnce);
  const end = useRef<HTMLDivElement>(null);
  const isMore = heads.length > most;
  useEffect(() => {
    if (end.current === null || !isMore) return;
    const watch = new IntersectionObserver(([entry]) => entry?.isIntersecting && setMost(most + drawnAtOnce), {
      rootMargin: '400px',
    });
    watch.observe(end.current);
    return () => watch.disconnect();
  }, [isMore, most]);
  const groups = useMemo(() => toHeadGroups(heads, todayMs), [heads, todayMs]);
  if (heads.length === 0) return <p className="sidebar-empty soft small">{empty}</p>;
  const names = {
    ...{ pinned: words.pinned, today: words.today, yesterday: words.yesterday },
    ...{ week: words.lastWeek, month: words.lastMonth, archived: words.archived },
  };
  const month = new Intl.DateTimeFormat(language, { month: 'long', year: 'numeric' });
  const nameOf = ({ name }: HeadGroup): string => (typeof name === 'number' ? month.format(name) : names[name]);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the arrows act on the links inside, whose keys arrive here
    <div className="heads" onKeyDown={(event) => moveFocus(event, '.head > a')}>
      {firstOf(groups, most).map((group) => (
        <section key={group.name} aria-label={nameOf(group)}>
          <h2 className="overline">{nameOf(group)}</h2>
          <ul>
            {group.items.map((head) => (
              <HeadItem key={head.id} {...{ head, query }} excerpt={excerpts.get(head.id)} />
            ))}
          </ul>
        </section>
      ))}
      {isMore && <div ref={end} />}
    </div>
  );
});

function firstOf(groups: readonly HeadGroup[], most: number): readonly HeadGroup[] {
  let left = most;
  return groups.flatMap(({ name, items }) => {
    const shown = items.slice(0, left);
    left -= shown.length;
    return shown.length > 0 ? [{ name, items: shown }] : [];
  });
}

/** What one group of the list is: a time from today back, or a month by its first moment. */
type GroupName = 'pinned' | 'today' | 'yesterday' | 'week' | 'month' | 'archived' | number;

interface HeadGroup {
  readonly name: GroupName;
  readonly items: readonly Head[];
}

/** Heads, the latest first, as they are listed: pinned ones, then by day and by month, archived ones last. */
export function toHeadGroups(heads: readonly Head[], nowMs: number): readonly HeadGroup[] {
  const groupOf = groupsUpTo(nowMs);
  const groups = Map.groupBy(heads, (head) => {
    if (head.archived === true) return 'archived';
    return head.pinned === true ? 'pinned' : groupOf(head.updatedAtMs);
  });
  const places = new Map<GroupName, number>([
    ['pinned', 0],
    ['archived', 2],
  ]);
  return [...groups]
    .map(([name, items]) => ({ name, items }))
    .sort((one, other) => (places.get(one.name) ?? 1) - (places.get(other.name) ?? 1));
}

function groupsUpTo(nowMs: number): (atMs: number) => GroupName {
  const daysAgo = (days: number): number => {
    const day = new Date(nowMs);
    return new Date(day.getFullYear(), day.getMonth(), day.getDate() - days).getTime();
  };
  const days = [
    ['today', daysAgo(0)],
    ['yesterday', daysAgo(1)],
    ['week', daysAgo(7)],
    ['month', daysAgo(30)],
  ] as const;
  return (atMs) => {
    const near = days.find(([, fromMs]) => atMs >= fromMs);
    if (near !== undefined) return near[0];
    const at = new Date(atMs);
    return new Date(at.getFullYear(), at.getMonth()).getTime();
  };
}

/** Lines around what was searched for, by the ids of conversations. */
type Excerpts = ReadonlyMap<string, string>;

interface FoundHeads {
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
