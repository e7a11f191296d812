import { useCallback, useId, useState } from 'react';
import { useNameOf, usePage } from '../page/page.tsx';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { Segments } from '../parts/segments.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { useLoaded } from '../parts/use-loaded.ts';
import { useLanguage } from '../words/words.tsx';
import { CallsLink, focusLink } from './calls-link.tsx';
import { CallsSection } from './calls-section.tsx';
import { CsvButton } from './csv-button.tsx';
import { type DayRange, daysOf, lastDays, thisMonth } from './days.ts';
import { amountOf, formatValue, type Measure, toMoney } from './measure.ts';
import type { CallsOf, Outcome } from './read-calls.ts';
import { type Amounts, readUsage, type Scope, type Usage, type UsageRow } from './read-usage.ts';
import { type Stack, stacks, UsageDays } from './usage-days.tsx';
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

const lengths = ['7', '30', '90'] as const;
type Chosen = (typeof lengths)[number] | 'month' | 'custom';

/** The last days, those of this month, or a first and a last one. Tells only ranges that can be asked for. */
function RangeChoice({ range, choose }: { readonly range: DayRange; readonly choose: (range: DayRange) => void }) {
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

interface UsageTableProps {
  readonly usage: Usage;
  readonly by: 'deployment' | 'user' | 'project';
  readonly range: DayRange;
  readonly measure: Measure;
  readonly open: (of: CallsOf) => void;
}

/** Sums by deployment, person or project, the largest first, each with its bar and the way to its calls. */
function UsageTable({ usage, by, range, measure, open }: UsageTableProps) {
  const words = useUsageWords();
  const { language } = useLanguage();
  const nameOf = useNameOf();
  const rows = usage.rows.toSorted((one, other) => amountOf(measure, other) - amountOf(measure, one));
  const highest = Math.max(...rows.map((row) => amountOf(measure, row)));
  const toName = (row: UsageRow): string => (by === 'deployment' ? nameOf(row.deployment) : row[by]) || words.nobody;
  const numbers = (['cost', 'tokens', 'calls'] as const).map(
    (each): Column<UsageRow> => ({
      name: words[each],
      isNumber: true,
      show: (row) => formatValue(each, amountOf(each, row), language),
    }),
  );
  const outcomes = (['failed', 'refused'] as const).map(
    (each): Column<UsageRow> => ({
      name: words[each],
      isNumber: true,
      show: (row) => {
        const count = row[`${each}Calls`].toLocaleString(language);
        const of = { ...range, [by]: row[by], outcome: each };
        const label = words.callsThat(count, words[each], toName(row));
        return row[`${each}Calls`] === 0 ? count : <CallsLink {...{ of, open, label }}>{count}</CallsLink>;
      },
    }),
  );
  const name: Column<UsageRow> = {
    name: { deployment: words.deployment, user: words.person, project: words.project }[by],
    show: (row) => (
      <span title={row[by]}>
        <CallsLink {...{ open, label: words.showCalls(toName(row)) }} of={{ ...range, [by]: row[by] }}>
          {toName(row)}
        </CallsLink>
        <Bar share={highest > 0 ? amountOf(measure, row) / highest : 0} />
      </span>
    ),
  };
  const title = { deployment: words.byDeployment, user: words.byPerson, project: words.byProject }[by];
  return (
    <>
      <h3>{title}</h3>
      <DataTable label={title} columns={[name, ...numbers, ...outcomes]} {...{ rows, keyOf: (row: UsageRow) => row[by] }} />
      {usage.isCut && <p className="soft small">{words.cutNote(rows.length.toLocaleString(language))}</p>}
    </>
  );
}

function Bar({ share }: { readonly share: number }) {
  return (
    <svg className="share" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
      <rect width={Math.max(share * 100, share > 0 ? 0.5 : 0)} height="4" />
    </svg>
  );
}
