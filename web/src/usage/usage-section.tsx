import { useCallback, useState } from 'react';
import { usePage } from '../page/page.tsx';
import { Segments } from '../parts/segments.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { useLoaded } from '../parts/use-loaded.ts';
import { useLanguage } from '../words/words.tsx';
import { CsvButton } from './csv-button.tsx';
import { DayChart, type DaySeries } from './day-chart.tsx';
import { type DayRange, daysOf, lastDays } from './days.ts';
import { amountOf, type Measure, toMoney } from './measure.ts';
import { RangeChoice } from './range-choice.tsx';
import { type Amounts, readUsage, type Scope, type UsageRow } from './read-usage.ts';
import type { UsageWords } from './usage-english.ts';
import { UsageTable } from './usage-table.tsx';
import { useUsageWords } from './usage-words.ts';

const rowsOfTable = 100;

/** What was used, by day, deployment and person; by administrators seen of everybody. */
export function UsageSection() {
  const words = useUsageWords();
  const { isAdmin, service } = usePage();
  const [scope, setScope] = useState<Scope>(isAdmin ? 'all' : 'own');
  const [range, setRange] = useState<DayRange>(() => lastDays(30, Date.now()));
  const [chosen, setMeasure] = useState<Measure>();
  const load = useCallback(
    async (signal: AbortSignal) => {
      const question = { ...range, scope, signal };
      const [days, deployments, people] = await Promise.all([
        readUsage(service, { ...question, by: ['day'], limit: 1000 }),
        readUsage(service, { ...question, by: ['deployment'], limit: rowsOfTable }),
        scope === 'all' ? readUsage(service, { ...question, by: ['user'], limit: rowsOfTable }) : undefined,
      ]);
      return { days, deployments, people, range };
    },
    [service, scope, range],
  );
  const { value, fault, isLoading } = useLoaded(load);
  const measure = chosen ?? (value !== undefined && value.days.total.cost === 0 ? 'tokens' : 'cost');
  return (
    <section className="sheet-section" aria-busy={isLoading} aria-label={words.used}>
      <div className="sheet-title">
        <h2>{words.used}</h2>
        <CsvButton {...{ scope, range }} />
      </div>
      <Choices {...{ scope, setScope, range, setRange, measure, setMeasure }} />
      <Trouble fault={fault} />
      {value !== undefined && (
        <>
          <Summary total={value.days.total} />
          {value.days.total.calls > 0 && (
            <>
              <Days rows={value.days.rows} {...{ range: value.range, measure }} />
              <UsageTable {...{ usage: value.deployments, measure }} by="deployment" />
              {value.people !== undefined && <UsageTable {...{ usage: value.people, measure }} by="user" />}
            </>
          )}
        </>
      )}
      <p className="soft small">{words.utcNote}</p>
    </section>
  );
}

interface ChoicesProps {
  readonly scope: Scope;
  readonly setScope: (scope: Scope) => void;
  readonly range: DayRange;
  readonly setRange: (range: DayRange) => void;
  readonly measure: Measure;
  readonly setMeasure: (measure: Measure) => void;
}

function Choices({ scope, setScope, range, setRange, measure, setMeasure }: ChoicesProps) {
  const words = useUsageWords();
  const { isAdmin } = usePage();
  const measures = (['cost', 'tokens', 'calls'] as const).map((each) => [each, words[each]] as const);
  const scopes = (['all', 'own'] as const).map((each) => [each, words[each]] as const);
  return (
    <div className="usage-choices">
      {isAdmin && <Segments<Scope> {...{ name: words.scope, value: scope, choose: setScope, options: scopes }} />}
      <RangeChoice choose={setRange} range={range} />
      <Segments<Measure> {...{ name: words.measure, value: measure, choose: setMeasure, options: measures }} />
    </div>
  );
}

function Summary({ total }: { readonly total: Amounts }) {
  const words = useUsageWords();
  const { language } = useLanguage();
  const number = (value: number): string => value.toLocaleString(language);
  if (total.calls === 0) return <p className="soft">{words.nothing}</p>;
  return (
    <p className="usage-summary">
      {words.summary(number(total.calls), number(amountOf('tokens', total)), toMoney(total.cost, language))}
    </p>
  );
}

interface DaysProps {
  readonly rows: readonly UsageRow[];
  readonly range: DayRange;
  readonly measure: Measure;
}

function Days({ rows, range, measure }: DaysProps) {
  const words = useUsageWords();
  const days = daysOf(range);
  const byDay = new Map(rows.map((row) => [row.day, row]));
  const valuesOf = (toValue: (row: UsageRow) => number): readonly number[] =>
    days.map((day) => {
      const row = byDay.get(day);
      return row === undefined ? 0 : toValue(row);
    });
  return <DayChart title={words.chart(words[measure])} {...{ measure, days }} series={toSeries(measure, words, valuesOf)} />;
}

function toSeries(
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
