import { useId, useState } from 'react';
import { Segments } from '../parts/segments.tsx';
import { type DayRange, daysOf, lastDays, thisMonth } from './days.ts';
import { useUsageWords } from './usage-words.ts';

const lengths = ['7', '30', '90'] as const;
type Chosen = (typeof lengths)[number] | 'month' | 'custom';

/** The last days, those of this month, or a first and a last one. Tells only ranges that can be asked for. */
export function RangeChoice({ range, choose }: { readonly range: DayRange; readonly choose: (range: DayRange) => void }) {
  const words = useUsageWords();
  const [chosen, setChosen] = useState<Chosen>('30');
  const [written, setWritten] = useState(range);
  const isBad = daysOf(written).length === 0;
  const take = (next: Chosen): void => {
    setChosen(next);
    if (next === 'custom') setWritten(range);
    else choose(next === 'month' ? thisMonth(Date.now()) : lastDays(Number(next), Date.now()));
  };
  const write = (part: Partial<DayRange>): void => {
    const next = { ...written, ...part };
    setWritten(next);
    if (daysOf(next).length > 0) choose(next);
  };
  return (
    <>
      <Segments<Chosen>
        {...{ name: words.range, value: chosen, choose: take }}
        options={[
          ...lengths.map((each) => [each, words.lastDays(Number(each))] as const),
          ['month', words.thisMonth],
          ['custom', words.custom],
        ]}
      />
      {chosen === 'custom' && (
        <div className="usage-days">
          <DayField label={words.from} day={written.from} isBad={isBad} write={(from) => write({ from })} />
          <DayField label={words.to} day={written.to} isBad={isBad} write={(to) => write({ to })} />
          <p className="trouble" role="alert">
            {isBad && words.badRange}
          </p>
        </div>
      )}
    </>
  );
}

interface DayFieldProps {
  readonly label: string;
  readonly day: string;
  readonly isBad: boolean;
  readonly write: (day: string) => void;
}

function DayField({ label, day, isBad, write }: DayFieldProps) {
  const field = useId();
  return (
    <div>
      <label className="overline" htmlFor={field}>
        {label}
      </label>
      <input id={field} type="date" value={day} aria-invalid={isBad} onChange={({ target }) => write(target.value)} />
    </div>
  );
}
