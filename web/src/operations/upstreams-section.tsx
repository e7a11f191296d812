import { useId, useRef, useState } from 'react';
import { DataTable } from '../parts/data-table.tsx';
import { DeploymentName } from '../parts/deployment-name.tsx';
import { Segments } from '../parts/segments.tsx';
import { formatDateTime, formatSeconds } from '../strings/formats.ts';
import { useLanguage } from '../strings/strings.tsx';
import { getSeverity, sortUpstreams, type Upstream } from './node-state.ts';
import { useOperationsStrings } from './operations-strings.ts';

/** Minimum number of upstreams for which the filter is visible. */
const minFilteredUpstreams = 6;

interface UpstreamsSectionProps {
  readonly upstreams: readonly Upstream[];
  /** Increments on a manual refresh, which may change the order. */
  readonly round: number;
}

/** All configured upstreams with their state. Upstreams with problems come first. */
export function UpstreamsSection({ upstreams, round }: UpstreamsSectionProps) {
  const strings = useOperationsStrings();
  const { locale } = useLanguage();
  const [text, setText] = useState('');
  const [filter, setFilter] = useState<'all' | 'withIssues'>('all');
  const fieldId = useId();
  const rows = useStableOrder(upstreams, round);
  const withIssues = rows.filter((upstream) => getSeverity(upstream) !== 'good');
  const queryWords = text.trim().toLowerCase().split(/\s+/).filter(Boolean);
  const isMatch = ({ deployment, displayName, protocol, model, origin }: Upstream): boolean => {
    const searchable = [deployment, displayName, protocol, model, origin].join('\n').toLowerCase();
    return queryWords.every((word) => searchable.includes(word));
  };
  const visibleUpstreams = (filter === 'all' ? rows : withIssues).filter(isMatch);
  const formatNumber = (value: number): string => value.toLocaleString(locale);
  const options = [
    ['all', `${strings.everything} (${formatNumber(rows.length)})`],
    ['withIssues', `${strings.withIssues} (${formatNumber(withIssues.length)})`],
  ] as const;
  return (
    <section className="sheet-section operations-upstreams">
      <h2 tabIndex={-1}>{strings.upstreams}</h2>
      {upstreams.length === 0 && <p className="soft">{strings.noUpstreams}</p>}
      {upstreams.length >= minFilteredUpstreams && (
        <div className="upstream-filters">
          <div>
            <label className="overline" htmlFor={fieldId}>
              {strings.filter}
            </label>
            <input id={fieldId} type="search" value={text} onChange={({ target }) => setText(target.value)} />
          </div>
          <Segments<'all' | 'withIssues'> {...{ name: strings.kind, value: filter, onSelect: setFilter, options }} />
        </div>
      )}
      {upstreams.length > 0 && visibleUpstreams.length === 0 && <p className="soft">{strings.noMatches}</p>}
      {visibleUpstreams.length > 0 && (
        <DataTable<Upstream>
          label={strings.upstreams}
          isStacked
          getKey={({ id }) => id}
          rows={visibleUpstreams}
          columns={[
            {
              name: strings.deployment,
              render: ({ deployment, displayName }) => <DeploymentName id={deployment} name={displayName} />,
            },
            { name: strings.state, render: (upstream) => <State upstream={upstream} /> },
            {
              name: strings.upstream,
              render: ({ protocol, origin, model }) => (
                <span>
                  {protocol} · {model}
                  {origin !== '' && <span className="soft small upstream-origin">{origin}</span>}
                </span>
              ),
            },
            { name: strings.tier, isNumeric: true, render: ({ tier }) => formatNumber(tier) },
            { name: strings.weight, isNumeric: true, render: ({ weight }) => formatNumber(weight) },
          ]}
        />
      )}
    </section>
  );
}

/** Sorts the upstreams, and keeps their order until the next manual refresh. */
function useStableOrder(upstreams: readonly Upstream[], round: number): readonly Upstream[] {
  const visible = useRef({ round, ids: [] as readonly string[] });
  const rows = sortUpstreams(upstreams, visible.current.round === round ? visible.current.ids : []);
  visible.current = { round, ids: rows.map(({ id }) => id) };
  return rows;
}

function State({ upstream }: { readonly upstream: Upstream }) {
  const strings = useOperationsStrings();
  const { locale } = useLanguage();
  const { state, failuresInARow, rejectedStatus, pausedUntilMs, parallel = 0, maxParallel, waiting, waitTimeMs } = upstream;
  const formatNumber = (value: number): string => value.toLocaleString(locale);
  const stateText = { ok: strings.inUse, rate_limited: strings.rateLimited, failing: strings.failing }[state];
  return (
    <span className={`verdict ${getSeverity(upstream)}`}>
      {rejectedStatus !== undefined && state === 'ok' ? strings.lastRejection(rejectedStatus) : stateText}
      {state === 'ok' && failuresInARow > 0 && <span className="soft small">{strings.lastFailures(failuresInARow)}</span>}
      {rejectedStatus !== undefined && state === 'ok' && (
        <span className="soft small">{strings.rejectionHint(rejectedStatus)}</span>
      )}
      {maxParallel !== undefined && (
        <span className="soft small">{strings.parallelCalls(formatNumber(parallel), formatNumber(maxParallel))}</span>
      )}
      {waiting > 0 && (
        <span className="soft small">
          {strings.waitingCalls(waiting, formatNumber(waiting), formatSeconds(waitTimeMs, locale))}
        </span>
      )}
      {pausedUntilMs !== undefined && (
        <span className="soft small">{strings.pausedUntil(formatDateTime(pausedUntilMs, locale))}</span>
      )}
    </span>
  );
}
