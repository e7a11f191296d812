import { unitsPerUsd } from '#domain/limits.ts';
import type { Standing } from '#domain/standing.ts';
import { periodEnds, toStatsName, windows } from '#domain/windows.ts';

/** One window as callers are shown it; tokens, requests or USD, and milliseconds since the epoch. */
interface WindowStats {
  readonly total: number | null;
  readonly used: number;
  readonly resetsAt: number;
}

/** `{minuteTokenStats, …}`: what is used of every window; those without a limit have no total and are not counted. */
export function toLimitStats(standings: readonly Standing[], nowMs: number): Record<string, WindowStats> {
  const ends = periodEnds(nowMs);
  return Object.fromEntries(
    windows.map((window) => {
      const standing = standings.find((each) => each.window === window);
      const units = window.kind === 'cost' ? unitsPerUsd : 1;
      const stats: WindowStats =
        standing === undefined
          ? { total: null, used: 0, resetsAt: ends[window.period] }
          : { total: standing.total / units, used: standing.used / units, resetsAt: standing.resetsAtMs };
      return [toStatsName(window), stats];
    }),
  );
}
