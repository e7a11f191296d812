import type { UsageStrings } from '../locales/en/usage.ts';
import { useGetName } from '../page/page.tsx';
import { DayChart, type DaySeries } from './day-chart.tsx';
import { type DayRange, listDays } from './days.ts';
import { getAmount, type Measure } from './measure.ts';
import type { CallsFilter } from './read-calls.ts';
import type { Usage, UsageRow } from './read-usage.ts';
import { useUsageStrings } from './usage-strings.ts';

/** Grouping of the bars. `kind`: tokens by input and output, calls by outcome. */
export const stacks = ['deployment', 'kind', 'user', 'project'] as const;
export type Stack = (typeof stacks)[number];

/** Number of chart colors without the color for all others. */
const maxSeries = 5;

interface UsageDaysProps {
  readonly usage: Usage;
  /** Opens the calls of a day, and of a bar segment. */
  readonly open: (filter: CallsFilter) => void;
  readonly range: DayRange;
  readonly stack: Stack;
  readonly measure: Measure;
}

/** Usage by day in one chart. */
export function UsageDays({ usage, range, stack, measure, open }: UsageDaysProps) {
  const strings = useUsageStrings();
  const getName = useGetName();
  const days = listDays(range);
  const byDay = Map.groupBy(usage.rows, ({ day }) => day);
  const sumByDay = (toValue: (row: UsageRow) => number): readonly number[] =>
    days.map((day) => (byDay.get(day) ?? []).reduce((sum, row) => sum + toValue(row), 0));
  const toName = (name: string): string => (stack === 'deployment' ? getName(name) : name) || strings.unnamed;
  const series = (): readonly DaySeries[] => {
    if (stack === 'kind') return toKinds(measure, strings, sumByDay);
    const { first, isMore } = findLargest(usage.rows, stack, measure);
    const namedSeries = first.map((name, colour) => ({
      ...{ name: toName(name), colour },
      values: sumByDay((row) => (row[stack] === name ? getAmount(measure, row) : 0)),
    }));
    const otherValues = sumByDay((row) => (first.includes(row[stack]) ? 0 : getAmount(measure, row)));
    return isMore ? [...namedSeries, { name: strings.otherSeries, colour: maxSeries, values: otherValues }] : namedSeries;
  };
  const openDay = (day: string, index = -1): void =>
    open({
      from: day,
      to: day,
      ...(stack === 'kind' ? toKindFilter(measure, index) : toNameFilter(usage.rows, { stack, measure, index })),
    });
  return (
    <>
      <DayChart title={strings.chart(strings[measure])} {...{ measure, days, open: openDay }} series={series()} />
      {usage.isTruncated && <p className="soft small">{strings.chartTruncated}</p>}
    </>
  );
}

/** Returns the names with the highest values, the largest first. */
function findLargest(rows: readonly UsageRow[], stack: Exclude<Stack, 'kind'>, measure: Measure) {
  const sums = new Map<string, number>();
  for (const row of rows) sums.set(row[stack], (sums.get(row[stack]) ?? 0) + getAmount(measure, row));
  const names = [...sums].sort(([, left], [, right]) => right - left).map(([name]) => name);
  return { first: names.slice(0, maxSeries), isMore: names.length > maxSeries };
}

/** Returns the filter of a bar segment. The sum of all others has none. */
function toNameFilter(
  rows: readonly UsageRow[],
  { stack, measure, index }: { stack: Exclude<Stack, 'kind'>; measure: Measure; index: number },
): Partial<CallsFilter> {
  const name = index < 0 ? undefined : findLargest(rows, stack, measure).first[index];
  return name === undefined ? {} : { [stack]: name };
}

/** Call segments are ordered by outcome. */
function toKindFilter(measure: Measure, index: number): Partial<CallsFilter> {
  const outcome = measure === 'calls' ? ([undefined, 'refused', 'failed'] as const)[index] : undefined;
  return outcome === undefined ? {} : { outcome };
}

function toKinds(
  measure: Measure,
  strings: UsageStrings,
  sumByDay: (toValue: (row: UsageRow) => number) => readonly number[],
): readonly DaySeries[] {
  if (measure === 'cost') return [{ name: strings.cost, colour: 0, values: sumByDay(({ cost }) => cost) }];
  if (measure === 'tokens') {
    return [
      { name: strings.tokensIn, colour: 0, values: sumByDay(({ promptTokens }) => promptTokens) },
      { name: strings.tokensOut, colour: 1, values: sumByDay(({ completionTokens }) => completionTokens) },
    ];
  }
  return [
    {
      name: strings.answered,
      colour: 0,
      values: sumByDay(({ calls, failedCalls, refusedCalls }) => calls - failedCalls - refusedCalls),
    },
    { name: strings.refused, colour: 2, values: sumByDay(({ refusedCalls }) => refusedCalls) },
    { name: strings.failed, colour: 3, values: sumByDay(({ failedCalls }) => failedCalls) },
  ];
}
