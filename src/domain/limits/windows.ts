import type { RoleEntry } from '#contract/configuration/access.ts';

/** Quantity that a limit bounds. Cost is counted in billionths of a USD, so that sums are exact. */
type LimitKind = 'tokens' | 'requests' | 'cost';

type Period = 'minute' | 'hour' | 'day' | 'week' | 'month';

/** A calendar period for one kind of limit. Limits are compared by the identity of their window. */
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

/** Windows for the cost over all deployments, by their keys in the configuration. */
export const costWindows: Readonly<Record<keyof CostLimit, Window>> = {
  day: { kind: 'cost', period: 'day' },
  week: { kind: 'cost', period: 'week' },
  month: { kind: 'cost', period: 'month' },
};

export const windows: readonly Window[] = [...Object.values(deploymentWindows), ...Object.values(costWindows)];

const kindNames: Readonly<Record<LimitKind, string>> = { tokens: 'Token', requests: 'Request', cost: 'Cost' };

/** Returns the public name of a window, such as `minuteTokenStats`. */
export function toStatsName({ kind, period }: Window): string {
  return `${period}${kindNames[kind]}Stats`;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const weekMs = 7 * dayMs;
/** The first Monday after the epoch, which was a Thursday. */
const firstMondayMs = 4 * dayMs;

/** Ends of the periods that contain a moment. An end is the first millisecond of the next period, since the epoch. */
export type PeriodEnds = Readonly<Record<Period, number>>;

/** Returns the ends of the UTC calendar periods that contain a moment. Weeks start on Monday. */
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

/** Caches the ends of the periods for one minute. All other periods end with a minute. */
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
