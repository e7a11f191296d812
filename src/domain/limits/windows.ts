import type { RoleEntry } from '#contract/configuration/access.ts';

/** What a limit bounds; cost is counted in billionths of a USD, so that sums are exact. */
type LimitKind = 'tokens' | 'requests' | 'cost';

type Period = 'minute' | 'hour' | 'day' | 'week' | 'month';

/** A calendar period in which something is counted; limits are compared by the identity of their window. */
export interface Window {
  readonly kind: LimitKind;
  readonly period: Period;
}

type DeploymentLimit = RoleEntry['limits'][string];
type CostLimit = NonNullable<RoleEntry['costLimit']>;

/** Windows of one deployment, by their keys in the configuration. */
export const deploymentWindows: Readonly<Record<keyof DeploymentLimit, Window>> = {
  minute: { kind: 'tokens', period: 'minute' },
  day: { kind: 'tokens', period: 'day' },
  week: { kind: 'tokens', period: 'week' },
  month: { kind: 'tokens', period: 'month' },
  requestMinute: { kind: 'requests', period: 'minute' },
  requestHour: { kind: 'requests', period: 'hour' },
  requestDay: { kind: 'requests', period: 'day' },
};

/** Windows of the money spent on all deployments, by their keys in the configuration. */
export const costWindows: Readonly<Record<keyof CostLimit, Window>> = {
  day: { kind: 'cost', period: 'day' },
  week: { kind: 'cost', period: 'week' },
  month: { kind: 'cost', period: 'month' },
};

/** Every window there is. */
export const windows: readonly Window[] = [...Object.values(deploymentWindows), ...Object.values(costWindows)];

const kindNames: Readonly<Record<LimitKind, string>> = { tokens: 'Token', requests: 'Request', cost: 'Cost' };

/** What a window is called where callers look at it, such as `minuteTokenStats`. */
export function toStatsName({ kind, period }: Window): string {
  return `${period}${kindNames[kind]}Stats`;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const weekMs = 7 * dayMs;
/** The first Monday after the epoch, which was a Thursday. */
const firstMondayMs = 4 * dayMs;

/** When each period that a moment lies in is over: the first millisecond of the next, since the epoch. */
export type PeriodEnds = Readonly<Record<Period, number>>;

/** The ends of the calendar periods that a moment lies in, in UTC, weeks from Monday. */
export function periodEnds(atMs: number): PeriodEnds {
  const at = new Date(atMs);
  return {
    minute: nextMultiple(minuteMs, atMs),
    hour: nextMultiple(hourMs, atMs),
    day: nextMultiple(dayMs, atMs),
    week: firstMondayMs + nextMultiple(weekMs, atMs - firstMondayMs),
    month: Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 1),
  };
}

/** The same, worked out once a minute: all periods end with one. */
export class Calendar {
  #ends: PeriodEnds = periodEnds(0);

  endsAt(atMs: number): PeriodEnds {
    const { minute } = this.#ends;
    if (atMs >= minute || atMs < minute - minuteMs) this.#ends = periodEnds(atMs);
    return this.#ends;
  }
}

function nextMultiple(lengthMs: number, atMs: number): number {
  return (Math.floor(atMs / lengthMs) + 1) * lengthMs;
}
