import { useCallback, useState } from 'react';
import { usePage } from '../page/page.tsx';
import { Segments } from '../parts/segments.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { useLoaded } from '../parts/use-loaded.ts';
import { useLanguage } from '../words/words.tsx';
import { CsvButton } from './csv-button.tsx';
import { type DayRange, lastDays } from './days.ts';
import { amountOf, type Measure, toMoney } from './measure.ts';
import { RangeChoice } from './range-choice.tsx';
import { type Amounts, readUsage, type Scope } from './read-usage.ts';
import { type Stack, stacks, UsageDays } from './usage-days.tsx';
import { UsageTable } from './usage-table.tsx';
import { useUsageWords } from './usage-words.ts';

const rowsOfTable = 100;
/** A month of a few dozen deployments. */
const mostRows = 1000;

/** What was used, by day, deployment and person; by administrators seen of everybody. */
export function UsageSection() {
  const words = useUsageWords();
  const { isAdmin, service } = usePage();
  const [scope, setScope] = useState<Scope>(isAdmin ? 'all' : 'own');
  const [range, setRange] = useState<DayRange>(() => lastDays(30, Date.now()));
  const [chosen, setMeasure] = useState<Measure>();
  const [wanted, setStack] = useState<Stack>('deployment');
  // Only all of them are told by person and project.
  const stack = scope === 'all' || wanted === 'kind' ? wanted : 'deployment';
  const load = useCallback(
    async (signal: AbortSignal) => {
      const question = { ...range, scope, signal };
      const [days, deployments, people] = await Promise.all([
        readUsage(service, { ...question, by: stack === 'kind' ? ['day'] : ['day', stack], limit: mostRows }),
        readUsage(service, { ...question, by: ['deployment'], limit: rowsOfTable }),
        scope === 'all' ? readUsage(service, { ...question, by: ['user'], limit: rowsOfTable }) : undefined,
      ]);
      return { days, deployments, people, range, stack };
    },
    [service, scope, range, stack],
  );
  const { value, fault, isLoading } = useLoaded(load);
  const measure = chosen ?? (value !== undefined && value.days.total.cost === 0 ? 'tokens' : 'cost');
  return (
    <section className="sheet-section" aria-busy={isLoading} aria-label={words.used}>
      <div className="sheet-title">
        <h2>{words.used}</h2>
        <CsvButton {...{ scope, range }} />
      </div>
      <Choices {...{ scope, setScope, range, setRange, measure, setMeasure, stack, setStack }} />
      <Trouble fault={fault} />
      {value !== undefined && (
        <>
          <Summary total={value.days.total} />
          {value.days.total.calls > 0 && (
            <>
              <p className="soft small">{words.innerNote}</p>
              <UsageDays {...{ usage: value.days, range: value.range, stack: value.stack, measure }} />
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
  readonly stack: Stack;
  readonly setStack: (stack: Stack) => void;
}

function Choices({ scope, setScope, range, setRange, measure, setMeasure, stack, setStack }: ChoicesProps) {
  const words = useUsageWords();
  const { isAdmin } = usePage();
  const measures = (['cost', 'tokens', 'calls'] as const).map((each) => [each, words[each]] as const);
  const names = { deployment: words.ofDeployments, kind: words.ofKinds, user: words.ofPeople, project: words.ofProjects };
  const offered = stacks.filter((each) => scope === 'all' || each === 'deployment' || each === 'kind');
  const scopes = (['all', 'own'] as const).map((each) => [each, words[each]] as const);
  return (
    <div className="usage-choices">
      {isAdmin && <Segments<Scope> {...{ name: words.scope, value: scope, choose: setScope, options: scopes }} />}
      <RangeChoice choose={setRange} range={range} />
      <Segments<Measure> {...{ name: words.measure, value: measure, choose: setMeasure, options: measures }} />
      <Segments<Stack>
        {...{ name: words.stackedBy, value: stack, choose: setStack }}
        options={offered.map((each) => [each, names[each]])}
      />
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
