import { useCallback, useState } from 'react';
import { usePage } from '../page/page.tsx';
import { Segments } from '../parts/segments.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { useLoaded } from '../parts/use-loaded.ts';
import { useLanguage } from '../words/words.tsx';
import { focusLink } from './calls-link.tsx';
import { CallsSection } from './calls-section.tsx';
import { CsvButton } from './csv-button.tsx';
import { type DayRange, lastDays } from './days.ts';
import { amountOf, type Measure, toMoney } from './measure.ts';
import { RangeChoice } from './range-choice.tsx';
import type { CallsOf, Outcome } from './read-calls.ts';
import { type Amounts, readUsage, type Scope, type Usage } from './read-usage.ts';
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
      const [days, deployments, people, projects] = await Promise.all([
        readUsage(service, { ...question, by: stack === 'kind' ? ['day'] : ['day', stack], limit: mostRows }),
        readUsage(service, { ...question, by: ['deployment'], limit: rowsOfTable }),
        scope === 'all' ? readUsage(service, { ...question, by: ['user'], limit: rowsOfTable }) : undefined,
        scope === 'all' ? readUsage(service, { ...question, by: ['project'], limit: rowsOfTable }) : undefined,
      ]);
      return { days, deployments, people, projects, range, stack };
    },
    [service, scope, range, stack],
  );
  const { value, fault, isLoading } = useLoaded(load);
  const [calls, setCalls] = useState<{ scope: Scope; range: DayRange; of: CallsOf; from: CallsOf }>();
  // Others are looked at now: sums come first again.
  const shown = calls?.scope === scope && calls.range === range ? calls : undefined;
  const open = (of: CallsOf): void => setCalls({ scope, range, of, from: of });
  const close = (): void => {
    setCalls(undefined);
    if (shown !== undefined) requestAnimationFrame(() => focusLink(shown.from));
  };
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
              <UsageDays {...{ usage: value.days, range: value.range, stack: value.stack, measure, open }} />
              {shown === undefined ? (
                <Sums {...{ value, measure, open }} />
              ) : (
                <CallsSection
                  key={JSON.stringify(shown.from)}
                  {...{ scope, of: shown.of, close }}
                  choose={(outcome) => setCalls({ ...shown, of: withOutcome(shown.of, outcome) })}
                />
              )}
            </>
          )}
        </>
      )}
      <p className="soft small">{words.utcNote}</p>
    </section>
  );
}

interface SumsProps {
  readonly value: {
    readonly deployments: Usage;
    readonly people: Usage | undefined;
    readonly projects: Usage | undefined;
    readonly range: DayRange;
  };
  readonly measure: Measure;
  readonly open: (of: CallsOf) => void;
}

/** What was used by deployment; of everybody by person and project as well. */
function Sums({ value: { deployments, people, projects, range }, measure, open }: SumsProps) {
  const words = useUsageWords();
  return (
    <>
      <p className="soft small">{words.callsNote}</p>
      <UsageTable {...{ usage: deployments, range, measure, open }} by="deployment" />
      <p className="soft small">{words.innerNote}</p>
      {people !== undefined && <UsageTable {...{ usage: people, range, measure, open }} by="user" />}
      {projects !== undefined && <UsageTable {...{ usage: projects, range, measure, open }} by="project" />}
    </>
  );
}

function withOutcome({ outcome: _, ...of }: CallsOf, outcome: Outcome | undefined): CallsOf {
  return outcome === undefined ? of : { ...of, outcome };
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
