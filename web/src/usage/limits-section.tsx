import { useCallback } from 'react';
import { usePage } from '../page/page.tsx';
import { ErrorMessage } from '../parts/error-message.tsx';
import { Icon } from '../parts/icon.tsx';
import { useLoaded } from '../parts/use-loaded.ts';
import { formatTimeUntil } from '../strings/format-time-until.ts';
import { useLanguage } from '../strings/strings.tsx';
import { toMoney } from './measure.ts';
import { type LimitStatus, readLimits } from './read-limits.ts';
import { useUsageStrings } from './usage-strings.ts';

const visibleGroups = 4;
const scarceShare = 0.8;

/** The user's limits and remaining amounts. */
export function LimitsSection() {
  const strings = useUsageStrings();
  const { service } = usePage();
  const {
    value: limits,
    error,
    isLoading,
    reload,
  } = useLoaded(useCallback((signal: AbortSignal) => readLimits(service, signal), [service]));
  const groups = limits && [
    ...(limits.cost.length > 0 ? [{ id: '', name: strings.allDeployments, statuses: limits.cost }] : []),
    ...limits.deployments,
  ];
  const hiddenGroups = groups?.slice(visibleGroups) ?? [];
  return (
    <section className="sheet-section" aria-busy={isLoading} aria-label={strings.limits}>
      <div className="sheet-title">
        <h2>{strings.limits}</h2>
        <button type="button" className="button quiet" onClick={reload}>
          <Icon name="again" />
          {strings.refresh}
        </button>
      </div>
      <ErrorMessage error={error} />
      {groups?.length === 0 && <p className="soft">{strings.noLimits}</p>}
      {groups?.slice(0, visibleGroups).map((group) => (
        <LimitGroup key={group.id} {...group} />
      ))}
      {hiddenGroups.length > 0 && (
        <details className="limits-rest">
          <summary>{strings.moreLimits(hiddenGroups.length)}</summary>
          {hiddenGroups.map((group) => (
            <LimitGroup key={group.id} {...group} />
          ))}
        </details>
      )}
    </section>
  );
}

function LimitGroup({ name, statuses }: { readonly name: string; readonly statuses: readonly LimitStatus[] }) {
  return (
    <div className="limits">
      <h3>{name}</h3>
      <ul>
        {statuses.map((status) => (
          <LimitBar key={`${status.period} ${status.kind}`} status={status} of={name} />
        ))}
      </ul>
    </div>
  );
}

function LimitBar({ status, of }: { readonly status: LimitStatus; readonly of: string }) {
  const strings = useUsageStrings();
  const { locale: language } = useLanguage();
  const { kind, period, used, total, resetsAtMs } = status;
  const amount = (value: number): string => (kind === 'Cost' ? toMoney(value, language) : value.toLocaleString(language));
  const name = strings.limitName(kind, period);
  const remaining = used >= total ? strings.usedUp : strings.remaining(amount(total - used));
  return (
    <li className={`limit ${getFillLevel(used / total)}`}>
      <span className="limit-name">{name}</span>
      <meter
        {...{ className: 'heard-only', min: 0, max: total, value: Math.min(used, total) }}
        aria-label={`${of}, ${name}`}
        aria-valuetext={`${strings.ofTotal(amount(used), amount(total))}, ${remaining}`}
      />
      <svg className="limit-bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
        <rect width={Math.min(100, (used / total) * 100)} height="10" />
      </svg>
      <span className="limit-left">
        <strong>{remaining}</strong> <span className="soft">· {strings.ofTotal(amount(used), amount(total))}</span>
      </span>
      {resetsAtMs !== undefined && (
        <time
          className="limit-reset soft"
          dateTime={new Date(resetsAtMs).toISOString()}
          title={new Date(resetsAtMs).toLocaleString(language)}
        >
          {strings.resets(formatTimeUntil(resetsAtMs, Date.now(), language))}
        </time>
      )}
    </li>
  );
}

function getFillLevel(share: number): string {
  if (share >= 1) return 'used-up';
  return share >= scarceShare ? 'scarce' : 'plenty';
}
