import { DataTable } from '../parts/data-table.tsx';
import { DeploymentName } from '../parts/deployment-name.tsx';
import { useLanguage } from '../words/words.tsx';
import { useOperationsWords } from './operations-words.ts';
import type { Upstream } from './read-operations.ts';
import { toMoment } from './to-moment.ts';

/** Every upstream of the configuration, and whether it is asked at present. */
export function UpstreamsSection({ upstreams }: { readonly upstreams: readonly Upstream[] }) {
  const words = useOperationsWords();
  const { language } = useLanguage();
  const number = (value: number): string => value.toLocaleString(language);
  return (
    <section className="sheet-section">
      <h2>{words.upstreams}</h2>
      {upstreams.length === 0 && <p className="soft">{words.noUpstreams}</p>}
      {upstreams.length > 0 && (
        <DataTable<Upstream>
          label={words.upstreams}
          isStacked
          keyOf={({ id }) => id}
          rows={upstreams.toSorted((one, other) => Number(other.state !== 'ok') - Number(one.state !== 'ok'))}
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

function State({ upstream: { state, failuresInARow, offUntilMs } }: { readonly upstream: Upstream }) {
  const words = useOperationsWords();
  const { language } = useLanguage();
  if (state === 'ok') {
    return (
      <span className={failuresInARow > 0 ? 'verdict doubtful' : 'verdict good'}>
        {words.asked}
        {failuresInARow > 0 && <span className="soft small">{words.failedLast(failuresInARow)}</span>}
      </span>
    );
  }
  return (
    <span className="verdict doubtful">
      {state === 'rate_limited' ? words.rateLimited : words.failing}
      {offUntilMs !== undefined && <span className="soft small">{words.backAt(toMoment(offUntilMs, language))}</span>}
    </span>
  );
}
