import { useNameOf } from '../page/page.tsx';
import { DayChart, type DaySeries } from './day-chart.tsx';
import { type DayRange, daysOf } from './days.ts';
import { amountOf, type Measure } from './measure.ts';
import type { CallsOf } from './read-calls.ts';
import type { Usage, UsageRow } from './read-usage.ts';
import type { UsageWords } from './usage-english.ts';
import { useUsageWords } from './usage-words.ts';

/** What the bars of a day are made of; `kind`: tokens read and written, calls answered, refused and failed. */
export const stacks = ['deployment', 'kind', 'user', 'project'] as const;
export type Stack = (typeof stacks)[number];

/** As many as charts have colours, less one for all others. */
const mostSeries = 5;

interface UsageDaysProps {
  readonly usage: Usage;
  /** Shows the calls of a day, and of what a part of its bar stands for. */
  readonly open: (of: CallsOf) => void;
  readonly range: DayRange;
  readonly stack: Stack;
  readonly measure: Measure;
}

/** What was used day by day, in one chart. */
export function UsageDays({ usage, range, stack, measure, open }: UsageDaysProps) {
  const words = useUsageWords();
  const nameOf = useNameOf();
  const days = daysOf(range);
  const byDay = Map.groupBy(usage.rows, ({ day }) => day);
  const valuesOf = (toValue: (row: UsageRow) => number): readonly number[] =>
    days.map((day) => (byDay.get(day) ?? []).reduce((sum, row) => sum + toValue(row), 0));
  const toName = (name: string): string => (stack === 'deployment' ? nameOf(name) : name) || words.nobody;
  const series = (): readonly DaySeries[] => {
    if (stack === 'kind') return toKinds(measure, words, valuesOf);
    const { first, isMore } = largestOf(usage.rows, stack, measure);
    const named = first.map((name, colour) => ({
      ...{ name: toName(name), colour },
      values: valuesOf((row) => (row[stack] === name ? amountOf(measure, row) : 0)),
    }));
    const others = valuesOf((row) => (first.includes(row[stack]) ? 0 : amountOf(measure, row)));
    return isMore ? [...named, { name: words.others, colour: mostSeries, values: others }] : named;
  };
  const openDay = (day: string, nth = -1): void =>
    open({ from: day, to: day, ...(stack === 'kind' ? ofKind(measure, nth) : ofName(usage.rows, { stack, measure, nth })) });
  return (
    <>
      <DayChart title={words.chart(words[measure])} {...{ measure, days, open: openDay }} series={series()} />
      {usage.isCut && <p className="soft small">{words.chartCut}</p>}
    </>
  );
}

/** The names that have most of the measure, the largest first. */
function largestOf(rows: readonly UsageRow[], stack: Exclude<Stack, 'kind'>, measure: Measure) {
  const sums = new Map<string, number>();
  for (const row of rows) sums.set(row[stack], (sums.get(row[stack]) ?? 0) + amountOf(measure, row));
  const names = [...sums].sort(([, one], [, other]) => other - one).map(([name]) => name);
  return { first: names.slice(0, mostSeries), isMore: names.length > mostSeries };
}

/** What the part of a bar stands for; of all others together nothing can be asked for. */
function ofName(
  rows: readonly UsageRow[],
  { stack, measure, nth }: { stack: Exclude<Stack, 'kind'>; measure: Measure; nth: number },
): Partial<CallsOf> {
  const name = nth < 0 ? undefined : largestOf(rows, stack, measure).first[nth];
  return name === undefined ? {} : { [stack]: name };
}

/** Calls are stacked by how they ended, in this order. */
function ofKind(measure: Measure, nth: number): Partial<CallsOf> {
  const outcome = measure === 'calls' ? ([undefined, 'refused', 'failed'] as const)[nth] : undefined;
  return outcome === undefined ? {} : { outcome };
}

function toKinds(
  measure: Measure,
  words: UsageWords,
  valuesOf: (toValue: (row: UsageRow) => number) => readonly number[],
): readonly DaySeries[] {
  if (measure === 'cost') return [{ name: words.cost, colour: 0, values: valuesOf(({ cost }) => cost) }];
  if (measure === 'tokens') {
    return [
      { name: words.tokensIn, colour: 0, values: valuesOf(({ promptTokens }) => promptTokens) },
      { name: words.tokensOut, colour: 1, values: valuesOf(({ completionTokens }) => completionTokens) },
    ];
  }
  return [
    {
      name: words.answered,
      colour: 0,
      values: valuesOf(({ calls, failedCalls, refusedCalls }) => calls - failedCalls - refusedCalls),
    },
    { name: words.refused, colour: 2, values: valuesOf(({ refusedCalls }) => refusedCalls) },
    { name: words.failed, colour: 3, values: valuesOf(({ failedCalls }) => failedCalls) },
  ];
}
