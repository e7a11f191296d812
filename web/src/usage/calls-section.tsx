import { useCallback, useEffect, useRef, useState } from 'react';
import { useGetName, usePage } from '../page/page.tsx';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { DeploymentName } from '../parts/deployment-name.tsx';
import { ErrorMessage } from '../parts/error-message.tsx';
import { Segments } from '../parts/segments.tsx';
import { useLoaded } from '../parts/use-loaded.ts';
import { type ErrorDetails, toErrorDetails } from '../service/service-error.ts';
import { useLanguage } from '../strings/strings.tsx';
import { toMoney } from './measure.ts';
import { type Call, type CallsFilter, type CallsPage, type Outcome, outcomes, readCalls } from './read-calls.ts';
import type { Scope } from './read-usage.ts';
import { useUsageStrings } from './usage-strings.ts';

interface CallsSectionProps {
  readonly scope: Scope;
  readonly of: CallsFilter;
  readonly choose: (outcome: Outcome | undefined) => void;
  readonly close: () => void;
}

/** Individual calls of a sum, the newest first. */
export function CallsSection({ scope, of, choose, close }: CallsSectionProps) {
  const strings = useUsageStrings();
  const { service } = usePage();
  const load = useCallback((signal: AbortSignal) => readCalls(service, { scope, of, signal }), [service, scope, of]);
  const { value: first, error, isLoading } = useLoaded(load);
  const [older, setOlder] = useState<{ after: CallsPage; pages: readonly CallsPage[] }>();
  const [loadMoreError, setLoadMoreError] = useState<ErrorDetails>();
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  const pages = first === undefined ? [] : [first, ...(older?.after === first ? older.pages : [])];
  const calls = pages.flatMap((page) => page.calls);
  const token = pages.at(-1)?.next;
  const loadMore = (): void => {
    if (first === undefined || token === undefined) return;
    setLoadMoreError(undefined);
    readCalls(service, { scope, of, token }).then(
      (page) => setOlder({ after: first, pages: [...pages.slice(1), page] }),
      (error: unknown) => setLoadMoreError(toErrorDetails(error)),
    );
  };
  const filters = [['', strings.allOutcomes], ...outcomes.map((item) => [item, strings.outcomes[item]] as const)] as const;
  return (
    <div className="calls" aria-busy={isLoading}>
      <div className="sheet-title">
        <h3 ref={heading} tabIndex={-1}>
          <CallsName of={of} />
        </h3>
        <button type="button" className="button" onClick={close}>
          {strings.backToSums}
        </button>
      </div>
      <div className="usage-choices">
        <Segments<Outcome | ''>
          {...{ name: strings.outcome, value: of.outcome ?? '', options: filters }}
          onSelect={(outcome) => choose(outcome === '' ? undefined : outcome)}
        />
      </div>
      <ErrorMessage error={error ?? loadMoreError} />
      {first !== undefined && calls.length === 0 && <p className="soft">{strings.noCalls}</p>}
      {calls.length > 0 && <CallsTable calls={calls} withUser={scope === 'all' && of.user === undefined} />}
      {token !== undefined && (
        <div>
          <button type="button" className="button" onClick={loadMore}>
            {strings.olderCalls}
          </button>
        </div>
      )}
    </div>
  );
}

/** The filter and the days of the calls. */
function CallsName({ of: { deployment, user, project, from, to } }: { readonly of: CallsFilter }) {
  const strings = useUsageStrings();
  const { locale: language } = useLanguage();
  const getName = useGetName();
  const toDay = (day: string): Date => new Date(`${day}T00:00:00Z`);
  const days = new Intl.DateTimeFormat(language, { timeZone: 'UTC', dateStyle: 'medium' }).formatRange(toDay(from), toDay(to));
  const names = [deployment === undefined ? undefined : getName(deployment), user, project];
  const nameParts = names.filter((name) => name !== undefined).map((name) => name || strings.unnamed);
  return strings.callsFor([...nameParts, days].join(' · '));
}

function CallsTable({ calls, withUser }: { readonly calls: readonly Call[]; readonly withUser: boolean }) {
  const strings = useUsageStrings();
  const { locale: language } = useLanguage();
  const getName = useGetName();
  const number = (name: string, show: (call: Call) => string): Column<Call> => ({ name, isNumber: true, render: show });
  const seconds = (ms: number): string =>
    (ms / 1000).toLocaleString(language, { style: 'unit', unit: 'second', maximumFractionDigits: 1 });
  return (
    <DataTable<Call>
      label={strings.calls}
      isStacked
      rows={calls}
      getKey={({ id }) => id}
      columns={[
        { name: strings.time, render: ({ atMs }) => <Moment atMs={atMs} /> },
        {
          name: strings.deployment,
          render: ({ deployment, calledBy }) => (
            <span className="deployment-name">
              <DeploymentName id={deployment} />
              {calledBy !== '' && <span className="soft small">{strings.calledBy(getName(calledBy))}</span>}
            </span>
          ),
        },
        ...(withUser ? [{ name: strings.person, render: ({ user }: Call) => user || strings.unnamed }] : []),
        { name: strings.outcome, render: (call) => <Ended call={call} /> },
        number(strings.tokensIn, ({ promptTokens }) => promptTokens.toLocaleString(language)),
        number(strings.tokensOut, ({ completionTokens }) => completionTokens.toLocaleString(language)),
        number(strings.cost, ({ cost }) => toMoney(cost, language)),
        number(strings.took, ({ durationMs }) => seconds(durationMs)),
        { name: strings.requestId, render: ({ requestId }) => <code className="small">{requestId}</code> },
      ]}
    />
  );
}

function Moment({ atMs }: { readonly atMs: number }) {
  const { locale: language } = useLanguage();
  return (
    <time className="call-time" dateTime={new Date(atMs).toISOString()}>
      {new Date(atMs).toLocaleString(language, { dateStyle: 'medium', timeStyle: 'medium' })}
    </time>
  );
}

function Ended({ call: { outcome, status } }: { readonly call: Call }) {
  const strings = useUsageStrings();
  return (
    <span className={outcome === 'failed' ? 'trouble' : undefined}>
      {strings.outcomes[outcome]}
      {outcome !== 'ok' && <span className="soft small"> {status}</span>}
    </span>
  );
}
