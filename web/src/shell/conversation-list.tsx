import { memo, useDeferredValue, useEffect, useMemo, useRef, useState } from 'react';
import type { ConversationSummary } from '../conversation/database.ts';
import type { SearchMatch } from '../conversation/deep-search.ts';
import { findSummaries } from '../conversation/library.ts';
import { moveFocus } from '../parts/move-focus.ts';
import { useLanguage } from '../strings/strings.tsx';
import { ConversationItem } from './conversation-item.tsx';
import { usePage, useSummaries } from './page.tsx';

const pageSize = 100;
const noResults = { query: '', ids: new Set<string>(), isDone: true };
const noExcerpts: Excerpts = new Map();

interface ConversationListProps {
  readonly summaries: readonly ConversationSummary[];
  readonly excerpts: Excerpts;
  /** Search text, or ''. */
  readonly query: string;
  readonly empty: string;
  /** Any time of today. It stays the same until tomorrow. */
  readonly todayMs: number;
}

/** Chats by day, as many as the user scrolled to. Drawn again only if they change. */
export const ConversationList = memo(function ConversationListView({
  summaries,
  excerpts,
  query,
  empty,
  todayMs,
}: ConversationListProps) {
  const { strings, locale } = useLanguage();
  const [limit, setLimit] = useState(pageSize);
  const end = useRef<HTMLDivElement>(null);
  const hasMore = summaries.length > limit;
  useEffect(() => {
    if (end.current === null || !hasMore) return;
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && setLimit(limit + pageSize), {
      rootMargin: '400px',
    });
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [hasMore, limit]);
  const groups = useMemo(() => groupSummaries(summaries, todayMs), [summaries, todayMs]);
  if (summaries.length === 0) return <p className="sidebar-empty soft small">{empty}</p>;
  const names = {
    ...{ pinned: strings.pinned, today: strings.today, yesterday: strings.yesterday },
    ...{ week: strings.lastWeek, month: strings.lastMonth, archived: strings.archived },
  };
  const month = new Intl.DateTimeFormat(locale, { month: 'long', year: 'numeric' });
  const getName = ({ name }: SummaryGroup): string => (typeof name === 'number' ? month.format(name) : names[name]);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the arrows act on the links inside, whose keys arrive here
    <div className="conversation-list" onKeyDown={(event) => moveFocus(event, '.conversation-item > a')}>
      {takeFirst(groups, limit).map((group) => (
        <section key={group.name} aria-label={getName(group)}>
          <h2 className="overline">{getName(group)}</h2>
          <ul>
            {group.items.map((summary) => (
              <ConversationItem key={summary.id} {...{ summary, query }} excerpt={excerpts.get(summary.id)} />
            ))}
          </ul>
        </section>
      ))}
      {hasMore && <div ref={end} />}
    </div>
  );
});

function takeFirst(groups: readonly SummaryGroup[], limit: number): readonly SummaryGroup[] {
  let remaining = limit;
  return groups.flatMap(({ name, items }) => {
    const visibleItems = items.slice(0, remaining);
    remaining -= visibleItems.length;
    return visibleItems.length > 0 ? [{ name, items: visibleItems }] : [];
  });
}

/** A group of the list. A number is the start of a month, in milliseconds since the epoch. */
type GroupName = 'pinned' | 'today' | 'yesterday' | 'week' | 'month' | 'archived' | number;

interface SummaryGroup {
  readonly name: GroupName;
  readonly items: readonly ConversationSummary[];
}

/** Groups chats: pinned ones, then by day and month, the latest first, and archived ones last. */
export function groupSummaries(summaries: readonly ConversationSummary[], nowMs: number): readonly SummaryGroup[] {
  const getGroup = createGrouper(nowMs);
  const groups = Map.groupBy(summaries, ({ archived, pinned, updatedAtMs }) => {
    if (archived === true) return 'archived';
    return pinned === true ? 'pinned' : getGroup(updatedAtMs);
  });
  const ranks = new Map<GroupName, number>([
    ['pinned', 0],
    ['archived', 2],
  ]);
  return [...groups]
    .map(([name, items]) => ({ name, items }))
    .sort((left, right) => (ranks.get(left.name) ?? 1) - (ranks.get(right.name) ?? 1));
}

function createGrouper(nowMs: number): (atMs: number) => GroupName {
  const getDayStart = (days: number): number => {
    const day = new Date(nowMs);
    return new Date(day.getFullYear(), day.getMonth(), day.getDate() - days).getTime();
  };
  const days = [
    ['today', getDayStart(0)],
    ['yesterday', getDayStart(1)],
    ['week', getDayStart(7)],
    ['month', getDayStart(30)],
  ] as const;
  return (atMs) => {
    const group = days.find(([, fromMs]) => atMs >= fromMs);
    if (group !== undefined) return group[0];
    const at = new Date(atMs);
    return new Date(at.getFullYear(), at.getMonth()).getTime();
  };
}

/** Excerpts around the matches, by chat ID. */
type Excerpts = ReadonlyMap<string, string>;

interface SearchResult {
  readonly summaries: readonly ConversationSummary[];
  readonly excerpts: Excerpts;
  /** Whether more results may follow. */
  readonly isSearching: boolean;
}

/** Returns the chats that contain every word of the query: first from their summaries, then from all texts. */
export function useSearchResult(query: string): SearchResult {
  const { library } = usePage();
  const summaries = useSummaries();
  const deferredQuery = useDeferredValue(query);
  const [deepResults, setDeepResults] = useState(noResults);
  // Excerpts of the previous search stay until this one ends, so that the list does not jump.
  const [excerpts, setExcerpts] = useState(noExcerpts);
  useEffect(() => {
    if (deferredQuery.trim() === '') return setExcerpts(noExcerpts);
    const controller = new AbortController();
    const { signal } = controller;
    const newExcerpts = new Map<string, string>();
    setDeepResults({ ...noResults, query: deferredQuery, isDone: false });
    const onMatches = (matches: readonly SearchMatch[]): void => {
      setDeepResults((current) => ({ ...current, ids: new Set([...current.ids, ...matches.map(({ id }) => id)]) }));
      for (const { id, excerpt } of matches) if (excerpt !== undefined) newExcerpts.set(id, excerpt);
      setExcerpts((current) => new Map([...current, ...newExcerpts]));
    };
    const end = (): void => {
      if (signal.aborted) return;
      setDeepResults((current) => ({ ...current, isDone: true }));
      setExcerpts(newExcerpts);
    };
    library.searchText(deferredQuery, { signal, onMatches }).then(end, end);
    return () => controller.abort();
  }, [library, deferredQuery]);
  const ids = deepResults.query === deferredQuery ? deepResults.ids : noResults.ids;
  const matches = useMemo(() => {
    if (deferredQuery.trim() === '') return summaries;
    const summaryMatches = new Set(findSummaries(summaries, deferredQuery));
    return summaries.filter((summary) => summaryMatches.has(summary) || ids.has(summary.id));
  }, [summaries, deferredQuery, ids]);
  const isSearching =
    query !== deferredQuery || (deferredQuery.trim() !== '' && !(deepResults.query === deferredQuery && deepResults.isDone));
  return { summaries: matches, excerpts, isSearching };
}
