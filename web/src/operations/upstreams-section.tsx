import { useId, useRef, useState } from 'react';
import { useNameOf } from '../page/page.tsx';
import { DataTable } from '../parts/data-table.tsx';
import { DeploymentName } from '../parts/deployment-name.tsx';
import { Segments } from '../parts/segments.tsx';
import { useLanguage } from '../words/words.tsx';
import { useOperationsWords } from './operations-words.ts';
import type { Upstream } from './read-operations.ts';
import { toMoment } from './to-moment.ts';
import { lookOf, ordered } from './trouble-of.ts';

/** From so many on they can be filtered. */
const many = 6;

interface UpstreamsSectionProps {
  readonly upstreams: readonly Upstream[];
  /** Of one round all keep their places. */
  readonly round: number;
}

/** Every upstream of the configuration, and whether it is asked at present; those in trouble first. */
export function UpstreamsSection({ upstreams, round }: UpstreamsSectionProps) {
  const words = useOperationsWords();
  const { language } = useLanguage();
  const nameOf = useNameOf();
  const [text, setText] = useState('');
  const [which, setWhich] = useState<'all' | 'troubled'>('all');
  const field = useId();
  const rows = useInPlace(upstreams, round);
  const troubled = rows.filter((upstream) => lookOf(upstream) !== 'good');
  const asked = text.trim().toLowerCase().split(/\s+/).filter(Boolean);
  const stands = ({ deployment, protocol, model, origin }: Upstream): boolean => {
    const said = [deployment, nameOf(deployment), protocol, model, origin].join('\n').toLowerCase();
    return asked.every((word) => said.includes(word));
  };
  const shown = (which === 'all' ? rows : troubled).filter(stands);
  const number = (value: number): string => value.toLocaleString(language);
  const options = [
    ['all', `${words.everything} (${number(rows.length)})`],
    ['troubled', `${words.troubled} (${number(troubled.length)})`],
  ] as const;
  return (
    <section className="sheet-section operations-upstreams">
      <h2 tabIndex={-1}>{words.upstreams}</h2>
      {upstreams.length === 0 && <p className="soft">{words.noUpstreams}</p>}
      {upstreams.length >= many && (
        <div className="upstream-filters">
          <div>
            <label className="overline" htmlFor={field}>
              {words.filter}
            </label>
            <input id={field} type="search" value={text} onChange={({ target }) => setText(target.value)} />
          </div>
          <Segments<'all' | 'troubled'> {...{ name: words.kind, value: which, choose: setWhich, options }} />
        </div>
      )}
      {upstreams.length > 0 && shown.length === 0 && <p className="soft">{words.noneMatch}</p>}
      {shown.length > 0 && (
        <DataTable<Upstream>
          label={words.upstreams}
          isStacked
          keyOf={({ id }) => id}
          rows={shown}
          columns={[
            { name: words.deployment, show: ({ deployment }) => <DeploymentName id={deployment} /> },
            { name: words.state, show: (upstream) => <State upstream={upstream} /> },
            {
              name: words.upstream,
              show: ({ protocol, origin, model }) => (
                <span>
                  {protocol} · {model}
                  {origin !== '' && <span className="soft small upstream-origin">{origin}</span>}
                </span>
              ),
            },
            { name: words.tier, isNumber: true, show: ({ tier }) => number(tier) },
            { name: words.weight, isNumber: true, show: ({ weight }) => number(weight) },
          ]}
        />
      )}
    </section>
  );
}

/** In the order that they had first in this round. */
function useInPlace(upstreams: readonly Upstream[], round: number): readonly Upstream[] {
  const shown = useRef({ round, ids: [] as readonly string[] });
  const rows = ordered(upstreams, shown.current.round === round ? shown.current.ids : []);
  shown.current = { round, ids: rows.map(({ id }) => id) };
  return rows;
}

function State({ upstream }: { readonly upstream: Upstream }) {
  const words = useOperationsWords();
  const { language } = useLanguage();
  const { state, failuresInARow, refusedStatus, offUntilMs } = upstream;
  const said = { ok: words.asked, rate_limited: words.rateLimited, failing: words.failing }[state];
  return (
    <span className={`verdict ${lookOf(upstream)}`}>
      {refusedStatus !== undefined && state === 'ok' ? words.refusedLast(refusedStatus) : said}
      {state === 'ok' && failuresInARow > 0 && <span className="soft small">{words.failedLast(failuresInARow)}</span>}
      {refusedStatus !== undefined && state === 'ok' && <span className="soft small">{words.refusedHint(refusedStatus)}</span>}
      {offUntilMs !== undefined && <span className="soft small">{words.backAt(toMoment(offUntilMs, language))}</span>}
    </span>
  );
}
