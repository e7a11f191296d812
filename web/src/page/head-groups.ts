import type { Head } from '../conversation/database.ts';

/** What one group of the list is: a time from today back, or a month by its first moment. */
type GroupName = 'pinned' | 'today' | 'yesterday' | 'week' | 'month' | 'archived' | number;

export interface HeadGroup {
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
