import { useWidth } from '../attachments/chart.tsx';
import type { UsageStrings } from '../locales/en/usage.ts';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { useLanguage } from '../strings/strings.tsx';
import { CallsLink } from './calls-link.tsx';
import { type DayRange, listDays } from './day-range.tsx';
import { computeAxisStep, formatValue, getAmount, type Measure } from './measure.ts';
import type { CallsFilter } from './read-calls.ts';
import type { Usage, UsageRow } from './read-usage.ts';
import { useUsageStrings } from './usage-strings.ts';
import { useGetUsageName } from './use-get-usage-name.ts';
import '../attachments/chart.css';

/** Grouping of the bars. `kind` groups tokens by input and output, and calls by outcome. */
export const stacks = ['deployment', 'kind', 'user', 'project'] as const;
export type Stack = (typeof stacks)[number];

/** Maximum number of named series. One more color is for the rest. */
const maxSeries = 5;

interface UsageDaysProps {
  readonly usage: Usage;
  /** Opens the calls of a day or of a bar segment. */
  readonly open: (filter: CallsFilter) => void;
  readonly range: DayRange;
  readonly stack: Stack;
  readonly measure: Measure;
}

/** Usage by day in one chart. */
export function UsageDays({ usage, range, stack, measure, open }: UsageDaysProps) {
  const strings = useUsageStrings();
  const getName = useGetUsageName();
  const days = listDays(range);
  const byDay = Map.groupBy(usage.rows, ({ day }) => day);
  const sumByDay = (toValue: (row: UsageRow) => number): readonly number[] =>
    days.map((day) => (byDay.get(day) ?? []).reduce((sum, row) => sum + toValue(row), 0));
  const toName = (name: string): string => (stack === 'deployment' ? getName(name) : name) || strings.unnamed;
  const listSeries = (): readonly DaySeries[] => {
    if (stack === 'kind') return toKindSeries(measure, strings, sumByDay);
    const { names, hasMore } = findLargest(usage.rows, stack, measure);
    const namedSeries = names.map((name, color) => ({
      ...{ name: toName(name), color },
      values: sumByDay((row) => (row[stack] === name ? getAmount(measure, row) : 0)),
    }));
    const otherValues = sumByDay((row) => (names.includes(row[stack]) ? 0 : getAmount(measure, row)));
    return hasMore ? [...namedSeries, { name: strings.otherSeries, color: maxSeries, values: otherValues }] : namedSeries;
  };
  const openDay = (day: string, index = -1): void =>
    open({
      from: day,
      to: day,
      ...(stack === 'kind' ? toKindFilter(measure, index) : toNameFilter(usage.rows, { stack, measure, index })),
    });
  return (
    <>
      <DayChart title={strings.chart(strings[measure])} {...{ measure, days, open: openDay }} series={listSeries()} />
      {usage.isTruncated && <p className="soft small">{strings.chartTruncated}</p>}
    </>
  );
}

/** Returns the names with the highest values, the largest first. */
function findLargest(rows: readonly UsageRow[], stack: Exclude<Stack, 'kind'>, measure: Measure) {
  const sums = new Map<string, number>();
  for (const row of rows) sums.set(row[stack], (sums.get(row[stack]) ?? 0) + getAmount(measure, row));
  const names = [...sums].sort(([, left], [, right]) => right - left).map(([name]) => name);
  return { names: names.slice(0, maxSeries), hasMore: names.length > maxSeries };
}

/** Returns the filter of a bar segment that is grouped by name. The segment of the rest has no filter. */
function toNameFilter(
  rows: readonly UsageRow[],
  { stack, measure, index }: { stack: Exclude<Stack, 'kind'>; measure: Measure; index: number },
): Partial<CallsFilter> {
  const name = index < 0 ? undefined : findLargest(rows, stack, measure).names[index];
  return name === undefined ? {} : { [stack]: name };
}

/** Returns the filter of a bar segment that is grouped by kind. Only calls can be filtered by outcome. */
function toKindFilter(measure: Measure, index: number): Partial<CallsFilter> {
  const outcome = measure === 'calls' ? ([undefined, 'refused', 'failed'] as const)[index] : undefined;
  return outcome === undefined ? {} : { outcome };
}

function toKindSeries(
  measure: Measure,
  strings: UsageStrings,
  sumByDay: (toValue: (row: UsageRow) => number) => readonly number[],
): readonly DaySeries[] {
  if (measure === 'cost') return [{ name: strings.cost, color: 0, values: sumByDay(({ cost }) => cost) }];
  if (measure === 'tokens') {
    return [
      { name: strings.tokensIn, color: 0, values: sumByDay(({ promptTokens }) => promptTokens) },
      { name: strings.tokensOut, color: 1, values: sumByDay(({ completionTokens }) => completionTokens) },
    ];
  }
  return [
    {
      name: strings.answered,
      color: 0,
      values: sumByDay(({ calls, failedCalls, refusedCalls }) => calls - failedCalls - refusedCalls),
    },
    { name: strings.refused, color: 2, values: sumByDay(({ refusedCalls }) => refusedCalls) },
    { name: strings.failed, color: 3, values: sumByDay(({ failedCalls }) => failedCalls) },
  ];
}

interface DaySeries {
  readonly name: string;
  /** Index of the chart color. */
  readonly color: number;
  /** One value per day. */
  readonly values: readonly number[];
}

interface DayChartProps {
  readonly title: string;
  readonly measure: Measure;
  readonly days: readonly string[];
  readonly series: readonly DaySeries[];
  /** Opens the calls of a day, optionally of one series. */
  readonly open: (day: string, series?: number) => void;
}

const [height, left, bottom, top] = [230, 54, 26, 10];
const labelWidth = 62;

/** Stacked bars per day in the available width, and a table of the same numbers. */
function DayChart({ title, measure, days, series, open }: DayChartProps) {
  const strings = useUsageStrings();
  const { locale } = useLanguage();
  const toName = (day: string): string =>
    new Date(day).toLocaleDateString(locale, { timeZone: 'UTC', day: 'numeric', month: 'short' });
  const rows = days.map((day, index) => ({ day, values: series.map(({ values }) => values[index] ?? 0) }));
  const columns = series.map(
    ({ name }, index): Column<(typeof rows)[number]> => ({
      name,
      isNumeric: true,
      render: ({ values }) => formatValue(measure, values[index] ?? 0, locale),
    }),
  );
  return (
    <figure className="chart day-chart">
      <figcaption>{title}</figcaption>
      <Drawing {...{ title, measure, rows, toName, open }} colors={series.map(({ color }) => color)} />
      {series.length > 1 && (
        <ul className="legend">
          {series.map(({ name, color }) => (
            <li key={color} className={`series-${color}`}>
              {name}
            </li>
          ))}
        </ul>
      )}
      <details>
        <summary className="small soft">{strings.asTable}</summary>
        <DataTable
          label={title}
          columns={[{ name: strings.day, render: ({ day }) => <DayLink {...{ day, open }} name={toName(day)} /> }, ...columns]}
          rows={rows}
          getKey={({ day }) => day}
        />
      </details>
    </figure>
  );
}

interface DayLinkProps extends Pick<DayChartProps, 'open'> {
  readonly day: string;
  readonly name: string;
}

function DayLink({ day, name, open }: DayLinkProps) {
  const strings = useUsageStrings();
  return (
    <CallsLink filter={{ from: day, to: day }} label={strings.showCalls(name)} open={() => open(day)}>
      {name}
    </CallsLink>
  );
}

interface DrawingProps extends Pick<DayChartProps, 'open'> {
  readonly title: string;
  readonly measure: Measure;
  readonly rows: readonly { readonly day: string; readonly values: readonly number[] }[];
  readonly toName: (day: string) => string;
  readonly colors: readonly number[];
}

function Drawing({ title, measure, rows, toName, colors, open }: DrawingProps) {
  const { locale } = useLanguage();
  const [frame, width] = useWidth();
  const computeSum = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
  const highestSum = Math.max(...rows.map(({ values }) => computeSum(values)));
  const step = computeAxisStep(highestSum, measure !== 'cost');
  const steps = Math.max(1, Math.ceil(highestSum / step));
  const highest = steps * step;
  const toY = (value: number): number => top + (1 - value / highest) * (height - top - bottom);
  const slot = (width - left) / rows.length;
  const labelInterval = Math.ceil(labelWidth / slot);
  return (
    <svg ref={frame} viewBox={`0 0 ${width} ${height}`} height={height} role="img" aria-label={title}>
      {Array.from({ length: steps + 1 }, (_, index) => index * step).map((value) => (
        <g key={value}>
          <line className="grid-line" x1={left} x2={width} y1={toY(value)} y2={toY(value)} />
          <text className="axis" x={left - 8} y={toY(value) + 4} textAnchor="end">
            {formatTick(measure, value, locale)}
          </text>
        </g>
      ))}
      {rows.map(({ day, values }, dayIndex) => (
        // biome-ignore lint/a11y/noStaticElementInteractions: keyboard users open a day from the table
        <g key={day} onClick={({ target }) => open(day, findSeries(target))}>
          <title>{`${toName(day)}: ${formatValue(measure, computeSum(values), locale)}`}</title>
          <rect className="day-area" x={left + dayIndex * slot} y={top} width={slot} height={height - top - bottom} />
          {values.map((value, index) => (
            <rect
              key={colors[index]}
              className={`series-${colors[index]}`}
              data-series={index}
              x={left + (dayIndex + 0.15) * slot}
              width={Math.max(slot * 0.7, 1)}
              y={toY(computeSum(values.slice(0, index + 1)))}
              height={toY(0) - toY(value)}
            />
          ))}
          {dayIndex % labelInterval === 0 && (dayIndex + 0.5) * slot + labelWidth / 2 <= width - left + 12 && (
            <text className="axis" x={left + (dayIndex + 0.5) * slot} y={height - 8} textAnchor="middle">
              {toName(day)}
            </text>
          )}
        </g>
      ))}
    </svg>
  );
}

/** Returns the index of the series of a bar segment. Undefined outside the bars. */
function findSeries(target: EventTarget): number | undefined {
  const index = target instanceof SVGElement ? target.dataset.series : undefined;
  return index === undefined ? undefined : Number(index);
}

function formatTick(measure: Measure, value: number, locale: string): string {
  const money = measure === 'cost' ? ({ style: 'currency', currency: 'USD', currencyDisplay: 'narrowSymbol' } as const) : {};
  return value.toLocaleString(locale, { ...money, notation: 'compact', maximumSignificantDigits: 3 });
}
