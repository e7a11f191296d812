/** Days as `YYYY-MM-DD` in UTC, as the service counts them. */
export interface DayRange {
  readonly from: string;
  /** Included. */
  readonly to: string;
}

const dayMs = 86_400_000;
/** As many as the service sums up at once. */
const maxDays = 366;

/** The last so many days, up to the one of `nowMs`. */
export function getLastDays(count: number, nowMs: number): DayRange {
  return { from: toDay(nowMs - (count - 1) * dayMs), to: toDay(nowMs) };
}

/** The month of `nowMs`, up to its day. */
export function getThisMonth(nowMs: number): DayRange {
  const to = toDay(nowMs);
  return { from: `${to.slice(0, 7)}-01`, to };
}

/** Every day of a range in its order; none where it is none, or too long. */
export function listDays({ from, to }: DayRange): readonly string[] {
  const [first, last] = [Date.parse(from), Date.parse(to)];
  const count = Math.round((last - first) / dayMs) + 1;
  if (!(count >= 1 && count <= maxDays)) return [];
  return Array.from({ length: count }, (_, index) => toDay(first + index * dayMs));
}

function toDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
