/** Days as `YYYY-MM-DD` in UTC, like those of the service. */
export interface DayRange {
  readonly from: string;
  /** Inclusive. */
  readonly to: string;
}

const dayMs = 86_400_000;
/** Maximum number of days of one request. */
const maxDays = 366;

/** Returns the last days, including the day of `nowMs`. */
export function getLastDays(count: number, nowMs: number): DayRange {
  return { from: toDay(nowMs - (count - 1) * dayMs), to: toDay(nowMs) };
}

/** Returns the month of `nowMs`, up to its day. */
export function getThisMonth(nowMs: number): DayRange {
  const to = toDay(nowMs);
  return { from: `${to.slice(0, 7)}-01`, to };
}

/** Lists the days of a range in order. Empty if the range is invalid or too long. */
export function listDays({ from, to }: DayRange): readonly string[] {
  const [first, last] = [Date.parse(from), Date.parse(to)];
  const count = Math.round((last - first) / dayMs) + 1;
  if (!(count >= 1 && count <= maxDays)) return [];
  return Array.from({ length: count }, (_, index) => toDay(first + index * dayMs));
}

function toDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
