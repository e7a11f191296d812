import { dayMs } from '#base/time/clock.ts';
import type { CostLimit, DeploymentLimit, LimitReset } from '#contract/configuration/limits.ts';
import { isTimeZone } from '#contract/configuration/values.ts';

/**
 * Quantity that a limit bounds. Cost is counted in billionths of a USD, so that sums are exact. `calls` are the calls in progress:
 * their usage consists of reservations only.
 */
type LimitKind = 'tokens' | 'requests' | 'cost' | 'calls';

/** `parallel` never ends. */
type Period = 'minute' | 'hour' | 'day' | 'week' | 'month' | 'year' | 'parallel';

/** A calendar period for one kind of limit. Windows with the same name are equal. */
export interface Window {
  readonly kind: LimitKind;
  readonly period: Period;
  /** Stored name: kind and period, followed by the calendar. `cost/month`, `cost/month/15/1/Europe/Zurich`. */
  readonly name: string;
  /** Start of days, weeks, months, and years. Undefined means the UTC calendar. */
  readonly reset?: CompleteReset;
}

/** A calendar with all its settings. */
export type CompleteReset = Readonly<Required<LimitReset>>;

/** Windows of one deployment, by their keys in the configuration. */
export const deploymentWindows: Readonly<Record<keyof DeploymentLimit, Window>> = {
  minute: createWindow('tokens', 'minute'),
  day: createWindow('tokens', 'day'),
  week: createWindow('tokens', 'week'),
  month: createWindow('tokens', 'month'),
  requestMinute: createWindow('requests', 'minute'),
  requestHour: createWindow('requests', 'hour'),
  requestDay: createWindow('requests', 'day'),
  maxParallel: createWindow('calls', 'parallel'),
};

/** Windows for the cost over all deployments, by their keys in the configuration. */
export const costWindows: Readonly<Record<keyof CostLimit, Window>> = {
  day: createWindow('cost', 'day'),
  week: createWindow('cost', 'week'),
  month: createWindow('cost', 'month'),
  year: createWindow('cost', 'year'),
};

/** Windows of the UTC calendar. */
export const windows: readonly Window[] = [...Object.values(deploymentWindows), ...Object.values(costWindows)];

function createWindow(kind: LimitKind, period: Period): Window {
  return { kind, period, name: `${kind}/${period}` };
}

/** Returns the calendar with its defaults, or undefined for the UTC calendar. */
export function completeReset({ dayOfMonth = 1, month = 1, timeZone = 'UTC' }: LimitReset = {}): CompleteReset | undefined {
  return timeZone === 'UTC' && dayOfMonth === 1 && month === 1 ? undefined : { dayOfMonth, month, timeZone };
}

/** Returns the window in another calendar. Minutes and hours stay those of UTC, and parallel calls have no calendar. */
export function withReset(window: Window, reset: CompleteReset | undefined): Window {
  if (reset === undefined || ['minute', 'hour', 'parallel'].includes(window.period)) return window;
  return { ...window, name: `${window.name}/${reset.dayOfMonth}/${reset.month}/${reset.timeZone}`, reset };
}

/** Returns the window with a stored name. Returns undefined for the name of a window that this version does not know. */
export function parseWindowName(name: string): Window | undefined {
  const [kind, period, dayOfMonth, month, ...zone] = name.split('/');
  const window = windows.find((candidate) => candidate.name === `${kind}/${period}`);
  if (window === undefined || dayOfMonth === undefined) return window;
  const timeZone = zone.join('/');
  if (!isTimeZone(timeZone)) return undefined;
  return withReset(window, completeReset({ dayOfMonth: Number(dayOfMonth), month: Number(month), timeZone }));
}

const kindNames: Readonly<Record<LimitKind, string>> = {
  tokens: 'Token',
  requests: 'Request',
  cost: 'Cost',
  calls: 'Call',
};

/** Returns the field of a window in `GET /v1/deployments/{id}/limits`, such as `minuteTokenStats`. */
export function toStatsName({ kind, period }: Window): string {
  return `${period}${kindNames[kind]}Stats`;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const weekMs = 7 * dayMs;
/** The first Monday after the epoch, which was a Thursday. */
const firstMondayMs = 4 * dayMs;

/** End of a period that never ends, in milliseconds. JSON has no infinity. */
const neverMs = Number.MAX_SAFE_INTEGER;

/** Ends of the periods that contain a moment. An end is the first millisecond of the next period, since the epoch. */
export type PeriodEnds = Readonly<Record<Period, number>>;

/** Returns the ends of the calendar periods that contain a moment. Weeks start on Monday. Without `reset`, uses the UTC calendar. */
export function computePeriodEnds(atMs: number, reset?: CompleteReset, toLocalDate = createToLocalDate(reset)): PeriodEnds {
  const clockEnds = { minute: nextMultiple(minuteMs, atMs), hour: nextMultiple(hourMs, atMs), parallel: neverMs };
  if (reset !== undefined) return { ...clockEnds, ...findLocalEnds(atMs, reset, toLocalDate) };
  const at = new Date(atMs);
  return {
    ...clockEnds,
    day: nextMultiple(dayMs, atMs),
    week: firstMondayMs + nextMultiple(weekMs, atMs - firstMondayMs),
    month: Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 1),
    year: Date.UTC(at.getUTCFullYear() + 1, 0, 1),
  };
}

/** Caches the ends of the periods for one minute. The end of every longer period is also the end of a minute. */
export class Calendar {
  readonly #reset: CompleteReset | undefined;
  readonly #toLocalDate: ToLocalDate;
  #ends: PeriodEnds;

  constructor(reset?: CompleteReset) {
    this.#reset = reset;
    this.#toLocalDate = createToLocalDate(reset);
    this.#ends = computePeriodEnds(0, reset, this.#toLocalDate);
  }

  getEnds(atMs: number): PeriodEnds {
    const { minute } = this.#ends;
    if (atMs >= minute || atMs < minute - minuteMs) this.#ends = computePeriodEnds(atMs, this.#reset, this.#toLocalDate);
    return this.#ends;
  }
}

function nextMultiple(lengthMs: number, atMs: number): number {
  return (Math.floor(atMs / lengthMs) + 1) * lengthMs;
}

/** Returns the date in a time zone as the UTC midnight of the same date. */
type ToLocalDate = (atMs: number) => number;

function createToLocalDate({ timeZone }: Pick<CompleteReset, 'timeZone'> = { timeZone: 'UTC' }): ToLocalDate {
  // Loading the time zones takes 6 MB.
  if (timeZone === 'UTC') return (atMs) => Math.floor(atMs / dayMs) * dayMs;
  const format = new Intl.DateTimeFormat('en', {
    timeZone,
    calendar: 'gregory',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
  });
  return (atMs) => {
    const parts = new Map(format.formatToParts(atMs).map(({ type, value }) => [type, Number(value)]));
    return Date.UTC(parts.get('year') ?? 0, (parts.get('month') ?? 1) - 1, parts.get('day') ?? 1);
  };
}

/** Dates of a local calendar are UTC midnights here, so that UTC methods calculate with them. */
function findLocalEnds(
  atMs: number,
  { dayOfMonth, month }: CompleteReset,
  toLocalDate: ToLocalDate,
): Omit<PeriodEnds, 'minute' | 'hour' | 'parallel'> {
  const today = toLocalDate(atMs);
  const date = new Date(today);
  const [year, monthIndex] = [date.getUTCFullYear(), date.getUTCMonth()];
  const findNext = (candidates: readonly number[]): number => candidates.find((candidate) => candidate > today) ?? today + dayMs;
  const toMonthStart = (offset: number) => toDateInMonth(year, monthIndex + offset, dayOfMonth);
  const toYearStart = (offset: number) => toDateInMonth(year + offset, month - 1, dayOfMonth);
  const ends = {
    day: today + dayMs,
    week: firstMondayMs + nextMultiple(weekMs, today - firstMondayMs),
    month: findNext([toMonthStart(0), toMonthStart(1)]),
    year: findNext([toYearStart(0), toYearStart(1)]),
  };
  const toMoment = (localDate: number) => findStartOfDate(toLocalDate, localDate);
  return { day: toMoment(ends.day), week: toMoment(ends.week), month: toMoment(ends.month), year: toMoment(ends.year) };
}

/** Returns the day of a month. A shorter month has its last day instead. */
function toDateInMonth(year: number, monthIndex: number, dayOfMonth: number): number {
  const lastDay = new Date(Date.UTC(year, monthIndex + 1, 0)).getUTCDate();
  return Date.UTC(year, monthIndex, Math.min(dayOfMonth, lastDay));
}

/** Offsets of time zones are at most 14 hours. */
const maxOffsetMs = 15 * hourMs;

/**
 * Returns the first moment of a local date. A search is correct for every change of daylight saving time, such as a day that starts
 * at 01:00, and for dates that a time zone skipped.
 */
function findStartOfDate(toLocalDate: ToLocalDate, localDate: number): number {
  let before = localDate - maxOffsetMs;
  let after = localDate + maxOffsetMs;
  while (after - before > minuteMs) {
    const middle = before + Math.floor((after - before) / 2 / minuteMs) * minuteMs;
    if (toLocalDate(middle) >= localDate) after = middle;
    else before = middle;
  }
  return after;
}
