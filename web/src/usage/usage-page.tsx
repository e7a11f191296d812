import { useCallback, useState } from 'react';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { ErrorMessage } from '../parts/error-message.tsx';
import { NamedPage } from '../parts/named-page.tsx';
import { Segments } from '../parts/segments.tsx';
import { useLoaded } from '../parts/use-loaded.ts';
import { usePage } from '../shell/page.tsx';
import { formatUsd } from '../strings/formats.ts';
import { useLanguage } from '../strings/strings.tsx';
import { CallsLink, focusLink } from './calls-link.tsx';
import { CallsSection } from './calls-section.tsx';
import { CsvButton } from './csv-button.tsx';
import { type DayRange, getLastDays, RangeChoice } from './day-range.tsx';
import { LimitsSection } from './limits-section.tsx';
import { formatValue, getAmount, type Measure } from './measure.ts';
import type { CallsFilter, Outcome } from './read-calls.ts';
import { type Amounts, readUsage, type Scope, type Usage, type UsageRow } from './read-usage.ts';
import { type Stack, stacks, UsageDays } from './usage-days.tsx';
import { useUsageStrings } from './usage-strings.ts';
import { useGetUsageName } from './use-get-usage-name.ts';
import './usage.css';

/** The limits of the user, and the usage of the user or of all users. */
export function UsagePage({ scope = 'own', openMenu }: { readonly scope: Scope | undefined; readonly openMenu: () => void }) {
  const { title } = useUsageStrings();
  return (
    <NamedPage name={title} openMenu={openMenu}>
      <div className="sheet wide">
        <h1>{title}</h1>
        <LimitsSection />
        <UsageSection initialScope={scope} />
      </div>
    </NamedPage>
  );
}

const maxTableRows = 100;
/** Maximum number of rows of the chart. This is enough for a month with a few dozen deployments. */
const maxRows = 1000;

/** Usage by day and deployment. The usage of all users is also grouped by user and team. */
function UsageSection({ initialScope }: { readonly initialScope: Scope }) {
  const strings = useUsageStrings();
  const { service } = usePage();
  const [scope, setScope] = useState(initialScope);
  const [range, setRange] = useState<DayRange>(() => getLastDays(30, Date.now()));
  const [selectedMeasure, setMeasure] = useState<Measure>();
  const [selectedStack, setStack] = useState<Stack>('deployment');
  // Only the usage of all users can be grouped by user and project.
  const stack = scope === 'all' || selectedStack === 'kind' ? selectedStack : 'deployment';
  const load = useCallback(
    async (signal: AbortSignal) => {
      const query = { ...range, scope, signal };
      const names = scope === 'all' ? (['deployment', 'user', 'project'] as const) : (['deployment'] as const);
      const [days, ...sums] = await Promise.all([
        readUsage(service, { ...query, isDirect: true, by: stack === 'kind' ? ['day'] : ['day', stack], limit: maxRows }),
        ...names.map(async (by) => ({ by, usage: await readUsage(service, { ...query, by: [by], limit: maxTableRows }) })),
      ]);
      return { days, sums, range, stack };
    },
    [service, scope, range, stack],
  );
  const { value, error, isLoading, reload } = useLoaded(load);
  const [calls, setCalls] = useState<{ scope: Scope; range: DayRange; filter: CallsFilter; initial: CallsFilter }>();
  // The page shows the sums again if the user selects another scope or range.
  const visibleCalls = calls?.scope === scope && calls.range === range ? calls : undefined;
  const open = (filter: CallsFilter): void => setCalls({ scope, range, filter, initial: filter });
  const close = (): void => {
    setCalls(undefined);
    if (visibleCalls !== undefined) requestAnimationFrame(() => focusLink(visibleCalls.initial));
  };
  const measure = selectedMeasure ?? (value !== undefined && value.days.total.cost === 0 ? 'tokens' : 'cost');
  return (
    <section className="sheet-section" aria-busy={isLoading} aria-label={strings.usageOverTime}>
      <div className="sheet-title">
        <h2>{strings.usageOverTime}</h2>
        <CsvButton {...{ scope, range }} />
      </div>
      <Choices {...{ scope, setScope, range, setRange, measure, setMeasure, stack, setStack }} />
      <ErrorMessage error={error} retry={reload} />
      {value !== undefined && (
        <>
          <Summary total={value.days.total} innerCalls={countInnerCalls(value.sums[0]?.usage)} />
          {value.days.total.calls > 0 && (
            <>
              <UsageDays {...{ usage: value.days, range: value.range, stack: value.stack, measure, open }} />
              {visibleCalls === undefined ? (
                <>
                  <p className="soft small">{strings.callsNote}</p>
                  {value.sums.map((sum) => (
                    <UsageTable key={sum.by} {...{ ...sum, range: value.range, measure, open }} />
                  ))}
                </>
              ) : (
                <CallsSection
                  key={JSON.stringify(visibleCalls.initial)}
                  {...{ scope, base: visibleCalls.filter, close }}
                  onOutcomeSelect={(outcome) => setCalls({ ...visibleCalls, filter: withOutcome(visibleCalls.filter, outcome) })}
                />
              )}
            </>
          )}
        </>
      )}
      <p className="soft small">{strings.utcNote}</p>
    </section>
  );
}

function withOutcome({ outcome: _, ...filter }: CallsFilter, outcome: Outcome | undefined): CallsFilter {
  return outcome === undefined ? filter : { ...filter, outcome };
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
  const strings = useUsageStrings();
  const { canAudit } = usePage();
  const measures = (['cost', 'tokens', 'calls'] as const).map((item) => [item, strings[item]] as const);
  const kind = measure === 'calls' ? strings.outcome : strings.ofKinds;
  const names = { deployment: strings.ofDeployments, kind, user: strings.ofPeople, project: strings.ofProjects };
  const availableStacks = stacks.filter((item) => scope === 'all' || item === 'deployment' || item === 'kind');
  const scopes = (['own', 'all'] as const).map((item) => [item, strings[item]] as const);
  return (
    <div className="usage-choices">
      {canAudit && <Segments<Scope> {...{ name: strings.scope, value: scope, onSelect: setScope, options: scopes }} />}
      <RangeChoice choose={setRange} range={range} />
      <Segments<Measure> {...{ name: strings.measure, value: measure, onSelect: setMeasure, options: measures }} />
      <Segments<Stack>
        {...{ name: strings.stackedBy, value: stack, onSelect: setStack }}
        options={availableStacks.map((item) => [item, names[item]])}
      />
    </div>
  );
}

/** Returns the number of calls by applications, which only sums by deployment include. Undefined if it is unknown. */
function countInnerCalls(usage: Usage | undefined): number | undefined {
  if (usage === undefined || usage.isTruncated) return undefined;
  return usage.rows.reduce((sum, { calls }) => sum + calls, 0) - usage.total.calls;
}

interface SummaryProps {
  readonly total: Amounts;
  readonly innerCalls: number | undefined;
}

function Summary({ total, innerCalls }: SummaryProps) {
  const strings = useUsageStrings();
  const { locale } = useLanguage();
  const formatNumber = (value: number): string => value.toLocaleString(locale);
  if (total.calls === 0) return <p className="soft">{strings.noUsage}</p>;
  return (
    <div>
      <p className="usage-summary">
        {strings.summary(formatNumber(total.calls), formatNumber(getAmount('tokens', total)), formatUsd(total.cost, locale))}
      </p>
      {innerCalls !== 0 && (
        <p className="soft small">{strings.innerNote(innerCalls === undefined ? undefined : formatNumber(innerCalls))}</p>
      )}
    </div>
  );
}

interface UsageTableProps {
  readonly usage: Usage;
  readonly by: 'deployment' | 'user' | 'project';
  readonly range: DayRange;
  readonly measure: Measure;
  readonly open: (filter: CallsFilter) => void;
}

/** Sums by deployment, user, or project, the largest first, each with a bar and a link to its calls. */
function UsageTable({ usage, by, range, measure, open }: UsageTableProps) {
  const strings = useUsageStrings();
  const { locale } = useLanguage();
  const getName = useGetUsageName();
  const rows = usage.rows.toSorted((left, right) => getAmount(measure, right) - getAmount(measure, left));
  const highest = Math.max(...rows.map((row) => getAmount(measure, row)));
  const toName = (row: UsageRow): string => (by === 'deployment' ? getName(row.deployment) : row[by]) || strings.unnamed;
  const numbers = (['cost', 'tokens', 'calls'] as const).map(
    (item): Column<UsageRow> => ({
      name: strings[item],
      isNumeric: true,
      render: (row) => formatValue(item, getAmount(item, row), locale),
    }),
  );
  const outcomes = (['failed', 'refused'] as const).map(
    (item): Column<UsageRow> => ({
      name: strings[item],
      isNumeric: true,
      render: (row) => {
        const count = row[`${item}Calls`].toLocaleString(locale);
        const filter = { ...range, [by]: row[by], outcome: item };
        const label = strings.showCallsByOutcome(count, strings[item], toName(row));
        return row[`${item}Calls`] === 0 ? count : <CallsLink {...{ filter, open, label }}>{count}</CallsLink>;
      },
    }),
  );
  const name: Column<UsageRow> = {
    name: { deployment: strings.deployment, user: strings.person, project: strings.project }[by],
    render: (row) => (
      <span title={row[by]}>
        <CallsLink {...{ open, label: strings.showCalls(toName(row)) }} filter={{ ...range, [by]: row[by] }}>
          {toName(row)}
        </CallsLink>
        <Bar fraction={highest > 0 ? getAmount(measure, row) / highest : 0} />
      </span>
    ),
  };
  const title = { deployment: strings.byDeployment, user: strings.byPerson, project: strings.byProject }[by];
  return (
    <>
      <h3>{title}</h3>
      <DataTable label={title} columns={[name, ...numbers, ...outcomes]} {...{ rows, getKey: (row: UsageRow) => row[by] }} />
      {usage.isTruncated && <p className="soft small">{strings.truncatedNote(rows.length.toLocaleString(locale))}</p>}
    </>
  );
}

function Bar({ fraction }: { readonly fraction: number }) {
  return (
    <svg className="usage-bar" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
      <rect width={Math.max(fraction * 100, fraction > 0 ? 0.5 : 0)} height="4" />
    </svg>
  );
}
