import { useId, useState } from 'react';
import { Segments } from '../parts/segments.tsx';
import { useUsageStrings } from './usage-strings.ts';

/** Days as `YYYY-MM-DD` in UTC, as in the service. */
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

/** Returns the days of the month up to the day of `nowMs`. */
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

const dayCounts = ['7', '30', '90'] as const;
type RangeOption = (typeof dayCounts)[number] | 'month' | 'custom';

/** Options for the last days, this month, and a custom range. Calls `choose` only with valid ranges. */
export function RangeChoice({ range, choose }: { readonly range: DayRange; readonly choose: (range: DayRange) => void }) {
  const strings = useUsageStrings();
  const [selected, setSelected] = useState<RangeOption>('30');
  const [customRange, setCustomRange] = useState(range);
  const isInvalid = listDays(customRange).length === 0;
  const select = (next: RangeOption): void => {
    setSelected(next);
    if (next === 'custom') setCustomRange(range);
    else choose(next === 'month' ? getThisMonth(Date.now()) : getLastDays(Number(next), Date.now()));
  };
  const change = (part: Partial<DayRange>): void => {
    const next = { ...customRange, ...part };
    setCustomRange(next);
    if (listDays(next).length > 0) choose(next);
  };
  return (
    <>
      <Segments<RangeOption>
        {...{ name: strings.range, value: selected, onSelect: select }}
        options={[
          ...dayCounts.map((item) => [item, strings.lastDays(Number(item))] as const),
          ['month', strings.thisMonth],
          ['custom', strings.custom],
        ]}
      />
      {selected === 'custom' && (
        <div className="usage-days">
          <DayField label={strings.from} day={customRange.from} isInvalid={isInvalid} onChange={(from) => change({ from })} />
          <DayField label={strings.to} day={customRange.to} isInvalid={isInvalid} onChange={(to) => change({ to })} />
          <p className="error-text" role="alert">
            {isInvalid && strings.badRange}
          </p>
        </div>
      )}
    </>
  );
}

interface DayFieldProps {
  readonly label: string;
  readonly day: string;
  readonly isInvalid: boolean;
  readonly onChange: (day: string) => void;
}

function DayField({ label, day, isInvalid, onChange }: DayFieldProps) {
  const fieldId = useId();
  return (
    <div>
      <label className="overline" htmlFor={fieldId}>
        {label}
      </label>
      <input id={fieldId} type="date" value={day} aria-invalid={isInvalid} onChange={({ target }) => onChange(target.value)} />
    </div>
  );
}
