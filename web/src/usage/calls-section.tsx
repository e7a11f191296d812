import { type FormEvent, useCallback, useId, useMemo, useState } from 'react';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { ErrorMessage } from '../parts/error-message.tsx';
import { TextButton } from '../parts/icon.tsx';
import { Segments } from '../parts/segments.tsx';
import { focusOnMount } from '../parts/use-focus-inside.ts';
import { MoreButton, usePages } from '../parts/use-pages.tsx';
import { usePage } from '../shell/page.tsx';
import { formatSeconds, formatUsd } from '../strings/formats.ts';
import { useLanguage } from '../strings/strings.tsx';
import { CalledDeployment, CallOutcome, CallTime, CallView } from './call-view.tsx';
import { type Call, type CallsFilter, type Outcome, outcomes, readCalls } from './read-calls.ts';
import type { Scope } from './read-usage.ts';
import { useUsageStrings } from './usage-strings.ts';
import { useGetUsageName } from './use-get-usage-name.ts';

interface CallsSectionProps {
  readonly scope: Scope;
  /** Filter without the search text of this section. */
  readonly base: CallsFilter;
  readonly onOutcomeSelect: (outcome: Outcome | undefined) => void;
  readonly close: () => void;
}

/** The individual calls that match a filter, the newest first. */
export function CallsSection({ scope, base, onOutcomeSelect, close }: CallsSectionProps) {
  const strings = useUsageStrings();
  const { service } = usePage();
  const [searchFilter, setSearchFilter] = useState<Pick<CallsFilter, 'requestId' | 'status'>>({});
  const filter = useMemo(() => ({ ...base, ...searchFilter }), [base, searchFilter]);
  const load = useCallback(
    (token?: string, signal?: AbortSignal) =>
      readCalls(service, { scope, filter, ...(token && { token }), ...(signal && { signal }) }),
    [service, scope, filter],
  );
  const { pages, error, isLoading, loadMore } = usePages(load);
  const [openId, setOpenId] = useState<string>();
  const calls = pages.flatMap((page) => page.calls);
  const openCall = calls.find(({ id }) => id === openId);
  if (openCall !== undefined) return <CallView call={openCall} close={() => setOpenId(undefined)} />;
  const outcomeOptions = [['', strings.allOutcomes], ...outcomes.map((item) => [item, strings.outcomes[item]] as const)] as const;
  return (
    <div className="calls" aria-busy={isLoading}>
      <div className="sheet-title">
        <h3 ref={focusOnMount} tabIndex={-1}>
          <CallsName filter={base} />
        </h3>
        <TextButton onClick={close}>{strings.backToOverview}</TextButton>
      </div>
      <div className="usage-choices">
        <Segments<Outcome | ''>
          {...{ name: strings.outcome, value: base.outcome ?? '', options: outcomeOptions }}
          onSelect={(outcome) => onOutcomeSelect(outcome === '' ? undefined : outcome)}
        />
        {scope === 'all' && <CallSearch onSearch={setSearchFilter} />}
      </div>
      <ErrorMessage error={error} />
      {pages.length > 0 && calls.length === 0 && <p className="soft">{strings.noCalls}</p>}
      {calls.length > 0 && (
        <CallsTable calls={calls} includesUser={scope === 'all' && base.user === undefined} open={setOpenId} />
      )}
      <MoreButton loadMore={loadMore} label={strings.olderCalls} />
    </div>
  );
}

interface CallSearchProps {
  readonly onSearch: (filter: Pick<CallsFilter, 'requestId' | 'status'>) => void;
}

/** A field that filters the calls by their request ID or their HTTP status. */
function CallSearch({ onSearch }: CallSearchProps) {
  const strings = useUsageStrings();
  const [text, setText] = useState('');
  const fieldId = useId();
  const search = (event: FormEvent): void => {
    event.preventDefault();
    const value = text.trim();
    onSearch(value === '' ? {} : /^[1-5]\d\d$/.test(value) ? { status: value } : { requestId: value });
  };
  return (
    <form className="call-search" onSubmit={search}>
      <div>
        <label className="overline" htmlFor={fieldId}>
          {strings.searchCalls}
        </label>
        <input id={fieldId} type="search" value={text} maxLength={200} onChange={({ target }) => setText(target.value)} />
      </div>
      <button type="submit" className="button">
        {strings.search}
      </button>
    </form>
  );
}

/** The heading: the filter and the days of the calls. */
function CallsName({ filter: { deployment, user, project, from, to } }: { readonly filter: CallsFilter }) {
  const strings = useUsageStrings();
  const { locale } = useLanguage();
  const getName = useGetUsageName();
  const toDay = (day: string): Date => new Date(`${day}T00:00:00Z`);
  const days = new Intl.DateTimeFormat(locale, { timeZone: 'UTC', dateStyle: 'medium' }).formatRange(toDay(from), toDay(to));
  const names = [deployment === undefined ? undefined : getName(deployment), user, project];
  const nameParts = names.filter((name) => name !== undefined).map((name) => name || strings.unnamed);
  return strings.callsFor([...nameParts, days].join(' · '));
}

interface CallsTableProps {
  readonly calls: readonly Call[];
  readonly includesUser: boolean;
  readonly open: (id: string) => void;
}

function CallsTable({ calls, includesUser, open }: CallsTableProps) {
  const strings = useUsageStrings();
  const { locale } = useLanguage();
  const getName = useGetUsageName();
  const toColumn = (name: string, format: (call: Call) => string): Column<Call> => ({ name, isNumeric: true, render: format });
  return (
    <DataTable<Call>
      label={strings.calls}
      isStacked
      rows={calls}
      getKey={({ id }) => id}
      columns={[
        {
          name: strings.time,
          render: ({ id, atMs }) => (
            <button type="button" className="calls-link" onClick={() => open(id)}>
              <CallTime atMs={atMs} />
            </button>
          ),
        },
        {
          name: strings.deployment,
          render: ({ deployment, calledBy }) => (
            <span className="deployment-name">
              <CalledDeployment id={deployment} />
              {calledBy !== '' && <span className="soft small">{strings.calledBy(getName(calledBy))}</span>}
            </span>
          ),
        },
        ...(includesUser ? [{ name: strings.person, render: ({ user }: Call) => user || strings.unnamed }] : []),
        { name: strings.outcome, render: (call) => <CallOutcome call={call} /> },
        toColumn(strings.tokensIn, ({ promptTokens }) => promptTokens.toLocaleString(locale)),
        toColumn(strings.tokensOut, ({ completionTokens }) => completionTokens.toLocaleString(locale)),
        toColumn(strings.cost, ({ cost }) => formatUsd(cost, locale)),
        toColumn(strings.duration, ({ durationMs }) => formatSeconds(durationMs, locale)),
        { name: strings.requestId, render: ({ requestId }) => <code className="small">{requestId}</code> },
      ]}
    />
  );
}
