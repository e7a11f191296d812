import type { LimitStatus } from '#domain/limits/limit-refusal.ts';
import { unitsPerUsd } from '#domain/limits/limits.ts';
import { periodEnds, toStatsName, windows } from '#domain/limits/windows.ts';

/** One window as callers are shown it; tokens, requests or USD, and milliseconds since the epoch. */
interface WindowStats {
  readonly total: number | null;
  readonly used: number;
  /** What calls under way may come to use; absent if there are none. */
  readonly reserved?: number;
  readonly resetsAt: number;
}

/** `{minuteTokenStats, …}`: what is used of every window; those without a limit have no total and are not counted. */
export function toLimitStats(statuses: readonly LimitStatus[], nowMs: number): Record<string, WindowStats> {
  const ends = periodEnds(nowMs);
  return Object.fromEntries(
    windows.map((window) => {
      const status = statuses.find((each) => each.window === window);
      const units = window.kind === 'cost' ? unitsPerUsd : 1;
      const stats: WindowStats =
        status === undefined
          ? { total: null, used: 0, resetsAt: ends[window.period] }
          : {
              total: status.total / units,
              used: status.used / units,
              ...(status.reserved > 0 && { reserved: status.reserved / units }),
              resetsAt: status.resetsAtMs,
            };
      return [toStatsName(window), stats];
    }),
  );
}
