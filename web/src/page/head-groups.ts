import type { Head } from '../conversation/database.ts';

/** What one group of the list is: a time from today back, or a month by its first moment. */
type GroupName = 'pinned' | 'today' | 'yesterday' | 'week' | 'month' | 'archived' | number;

export interface HeadGroup {
  readonly name: GroupName;
  readonly items: readonly Head[];
}

/** Heads, the latest first, as they are listed: pinned ones, then by day and by month, archived ones last. */
export function toHeadGroups(heads: readonly Head[], nowMs: number): readonly HeadGroup[] {
  const groups = Map.groupBy(heads, (head) => {
    if (head.archived === true) return 'archived';
    return head.pinned === true ? 'pinned' : groupOf(head.updatedAtMs, nowMs);
  });
  const places = new Map<GroupName, number>([
    ['pinned', 0],
    ['archived', 2],
  ]);
  return [...groups]
    .map(([name, items]) => ({ name, items }))
    .sort((one, other) => (places.get(one.name) ?? 1) - (places.get(other.name) ?? 1));
}

function groupOf(atMs: number, nowMs: number): GroupName {
  const daysAgo = (days: number): number => {
    const day = new Date(nowMs);
    return new Date(day.getFullYear(), day.getMonth(), day.getDate() - days).getTime();
  };
  if (atMs >= daysAgo(0)) return 'today';
  if (atMs >= daysAgo(1)) return 'yesterday';
  if (atMs >= daysAgo(7)) return 'week';
  if (atMs >= daysAgo(30)) return 'month';
  const at = new Date(atMs);
  return new Date(at.getFullYear(), at.getMonth()).getTime();
}
