import { useCallback, useEffect, useRef, useState } from 'react';
import { useNameOf, usePage } from '../page/page.tsx';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { DeploymentName } from '../parts/deployment-name.tsx';
import { Segments } from '../parts/segments.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { useLoaded } from '../parts/use-loaded.ts';
import { type Fault, faultOf } from '../service/fault.ts';
import { useLanguage } from '../words/words.tsx';
import { toMoney } from './measure.ts';
import { type Call, type CallsOf, type CallsPage, type Outcome, outcomes, readCalls } from './read-calls.ts';
import type { Scope } from './read-usage.ts';
import { useUsageWords } from './usage-words.ts';

interface CallsSectionProps {
  readonly scope: Scope;
  readonly of: CallsOf;
  readonly choose: (outcome: Outcome | undefined) => void;
  readonly close: () => void;
}

/** The single calls behind a sum, the newest first. */
export function CallsSection({ scope, of, choose, close }: CallsSectionProps) {
  const words = useUsageWords();
  const { service } = usePage();
  const load = useCallback((signal: AbortSignal) => readCalls(service, { scope, of, signal }), [service, scope, of]);
  const { value: first, fault, isLoading } = useLoaded(load);
  const [older, setOlder] = useState<{ behind: CallsPage; pages: readonly CallsPage[] }>();
  const [failed, setFailed] = useState<Fault>();
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  const pages = first === undefined ? [] : [first, ...(older?.behind === first ? older.pages : [])];
  const calls = pages.flatMap((page) => page.calls);
  const token = pages.at(-1)?.next;
  const more = (): void => {
    if (first === undefined || token === undefined) return;
    setFailed(undefined);
    readCalls(service, { scope, of, token }).then(
      (page) => setOlder({ behind: first, pages: [...pages.slice(1), page] }),
      (thrown: unknown) => setFailed(faultOf(thrown)),
    );
  };
  const filters = [['', words.allOutcomes], ...outcomes.map((each) => [each, words.outcomes[each]] as const)] as const;
  return (
    <div className="calls" aria-busy={isLoading}>
      <div className="sheet-title">
        <h3 ref={heading} tabIndex={-1}>
          <CallsName of={of} />
        </h3>
        <button type="button" className="button" onClick={close}>
          {words.backToSums}
        </button>
      </div>
      <div className="usage-choices">
        <Segments<Outcome | ''>
          {...{ name: words.outcome, value: of.outcome ?? '', options: filters }}
          choose={(outcome) => choose(outcome === '' ? undefined : outcome)}
        />
      </div>
      <Trouble fault={fault ?? failed} />
      {first !== undefined && calls.length === 0 && <p className="soft">{words.noCalls}</p>}
      {calls.length > 0 && <CallsTable calls={calls} withUser={scope === 'all' && of.user === undefined} />}
      {token !== undefined && (
        <div>
          <button type="button" className="button" onClick={more}>
            {words.olderCalls}
          </button>
        </div>
      )}
    </div>
  );
}

/** What they are the calls of, and of which days. */
function CallsName({ of: { deployment, user, project, from, to } }: { readonly of: CallsOf }) {
  const words = useUsageWords();
  const { language } = useLanguage();
  const nameOf = useNameOf();
  const toDay = (day: string): Date => new Date(`${day}T00:00:00Z`);
  const days = new Intl.DateTimeFormat(language, { timeZone: 'UTC', dateStyle: 'medium' }).formatRange(toDay(from), toDay(to));
  const names = [deployment === undefined ? undefined : nameOf(deployment), user, project];
  const known = names.filter((name) => name !== undefined).map((name) => name || words.nobody);
  return words.callsOf([...known, days].join(' · '));
}

function CallsTable({ calls, withUser }: { readonly calls: readonly Call[]; readonly withUser: boolean }) {
  const words = useUsageWords();
  const { language } = useLanguage();
  const nameOf = useNameOf();
  const number = (name: string, show: (call: Call) => string): Column<Call> => ({ name, isNumber: true, show });
  const seconds = (ms: number): string =>
    (ms / 1000).toLocaleString(language, { style: 'unit', unit: 'second', maximumFractionDigits: 1 });
  return (
    <DataTable<Call>
      label={words.calls}
      isStacked
      rows={calls}
      keyOf={({ id }) => id}
      columns={[
        { name: words.time, show: ({ atMs }) => <Moment atMs={atMs} /> },
        {
          name: words.deployment,
          show: ({ deployment, calledBy }) => (
            <span className="deployment-name">
              <DeploymentName id={deployment} />
              {calledBy !== '' && <span className="soft small">{words.calledBy(nameOf(calledBy))}</span>}
            </span>
          ),
        },
        ...(withUser ? [{ name: words.person, show: ({ user }: Call) => user || words.nobody }] : []),
        { name: words.outcome, show: (call) => <Ended call={call} /> },
        number(words.tokensIn, ({ promptTokens }) => promptTokens.toLocaleString(language)),
        number(words.tokensOut, ({ completionTokens }) => completionTokens.toLocaleString(language)),
        number(words.cost, ({ cost }) => toMoney(cost, language)),
        number(words.took, ({ durationMs }) => seconds(durationMs)),
        { name: words.requestId, show: ({ requestId }) => <code className="small">{requestId}</code> },
      ]}
    />
  );
}

function Moment({ atMs }: { readonly atMs: number }) {
  const { language } = useLanguage();
  return (
    <time className="call-time" dateTime={new Date(atMs).toISOString()}>
      {new Date(atMs).toLocaleString(language, { dateStyle: 'medium', timeStyle: 'medium' })}
    </time>
  );
}

function Ended({ call: { outcome, status } }: { readonly call: Call }) {
  const words = useUsageWords();
  return (
    <span className={outcome === 'failed' ? 'trouble' : undefined}>
      {words.outcomes[outcome]}
      {outcome !== 'ok' && <span className="soft small"> {status}</span>}
    </span>
  );
}
