import { useCallback } from 'react';
import { filterObjects, isJsonObject, toNumber, toObject, toText } from '#base/json/json.ts';
import type { LimitKind, Period } from '../locales/en/usage.ts';
import { ErrorMessage } from '../parts/error-message.tsx';
import { Icon } from '../parts/icon.tsx';
import { useLoaded } from '../parts/use-loaded.ts';
import { encodePath, type Service } from '../service/service.ts';
import { usePage } from '../shell/page.tsx';
import { formatTimeUntil, formatUsd } from '../strings/formats.ts';
import { useLanguage } from '../strings/strings.tsx';

import { useUsageStrings } from './usage-strings.ts';

const maxVisibleGroups = 4;
/** Used fraction above which a limit counts as scarce. */
const scarceFraction = 0.8;

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
  const hiddenGroups = groups?.slice(maxVisibleGroups) ?? [];
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
      {groups?.slice(0, maxVisibleGroups).map((group) => (
        <LimitGroup key={group.id} {...group} />
      ))}
      {hiddenGroups.length > 0 && (
        <details className="more-limits">
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
          <LimitBar key={`${status.period} ${status.kind}`} status={status} groupName={name} />
        ))}
      </ul>
    </div>
  );
}

function LimitBar({ status, groupName }: { readonly status: LimitStatus; readonly groupName: string }) {
  const strings = useUsageStrings();
  const { locale } = useLanguage();
  const { kind, period, used, total, resetsAtMs } = status;
  const formatAmount = (value: number): string => (kind === 'Cost' ? formatUsd(value, locale) : value.toLocaleString(locale));
  const name = strings.limitName(kind, period);
  const remaining = used >= total ? strings.usedUp : strings.remaining(formatAmount(total - used));
  return (
    <li className={`limit ${getFillLevel(used / total)}`}>
      <span className="limit-name">{name}</span>
      <meter
        {...{ className: 'visually-hidden', min: 0, max: total, value: Math.min(used, total) }}
        aria-label={`${groupName}, ${name}`}
        aria-valuetext={`${strings.ofTotal(formatAmount(used), formatAmount(total))}, ${remaining}`}
      />
      <svg className="limit-bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
        <rect width={Math.min(100, (used / total) * 100)} height="10" />
      </svg>
      <span className="limit-remaining">
        <strong>{remaining}</strong> <span className="soft">· {strings.ofTotal(formatAmount(used), formatAmount(total))}</span>
      </span>
      {resetsAtMs !== undefined && (
        <time
          className="limit-reset soft"
          dateTime={new Date(resetsAtMs).toISOString()}
          title={new Date(resetsAtMs).toLocaleString(locale)}
        >
          {strings.resets(formatTimeUntil(resetsAtMs, Date.now(), locale))}
        </time>
      )}
    </li>
  );
}

function getFillLevel(usedFraction: number): string {
  if (usedFraction >= 1) return 'used-up';
  return usedFraction >= scarceFraction ? 'scarce' : 'plenty';
}

interface LimitStatus {
  readonly kind: LimitKind;
  readonly period: Period;
  /** Tokens, requests, USD, or calls in progress. */
  readonly total: number;
  readonly used: number;
  /** Undefined for calls in progress, which have no period. */
  readonly resetsAtMs: number | undefined;
}

interface OwnLimits {
  /** Cost limits of all deployments together. */
  readonly cost: readonly LimitStatus[];
  /** Deployments with limits, sorted by their highest used fraction. */
  readonly deployments: readonly { readonly id: string; readonly name: string; readonly statuses: readonly LimitStatus[] }[];
}

const maxConcurrent = 8;

/** Loads the user's limits and their status. Throws `ServiceError`. */
async function readLimits(service: Service, signal: AbortSignal): Promise<OwnLimits> {
  const remaining = await listDeployments(service, signal);
  const results: (OwnLimits['deployments'][number] & { readonly cost: readonly LimitStatus[] })[] = [];
  const loadLimits = async (): Promise<void> => {
    for (let next = remaining.shift(); next !== undefined; next = remaining.shift()) {
      const all = toStatuses(await service.json(`v1/deployments/${encodePath(next.id)}/limits`, { signal }));
      const isCost = ({ kind }: LimitStatus): boolean => kind === 'Cost';
      results.push({ ...next, statuses: all.filter((status) => !isCost(status)), cost: all.filter(isCost) });
    }
  };
  await Promise.all(Array.from({ length: maxConcurrent }, loadLimits));
  const limitedDeployments = results.filter(({ statuses }) => statuses.length > 0);
  return {
    cost: results.find(({ cost }) => cost.length > 0)?.cost ?? [],
    deployments: limitedDeployments.sort(
      (left, right) => computeMaxUsage(right) - computeMaxUsage(left) || left.name.localeCompare(right.name),
    ),
  };
}

async function listDeployments(service: Service, signal: AbortSignal): Promise<{ id: string; name: string }[]> {
  const answer = await service.json('openai/deployments', { signal });
  const items = filterObjects(toObject(answer).data);
  return items.map(({ id, display_name: name }) => ({ id: String(id), name: toText(name) || String(id) }));
}

function toStatuses(answer: unknown): readonly LimitStatus[] {
  if (!isJsonObject(answer)) return [];
  return Object.entries(answer).flatMap(([name, stats]) => {
    const [, period, kind] = /^(minute|hour|day|week|month|parallel)(Token|Request|Cost|Call)Stats$/.exec(name) ?? [];
    if (period === undefined || !isJsonObject(stats) || typeof stats.total !== 'number') return [];
    const { total, used, resetsAt } = stats;
    return [{ kind: kind as LimitKind, period: period as Period, total, used: Number(used), resetsAtMs: toNumber(resetsAt) }];
  });
}

function computeMaxUsage({ statuses }: { readonly statuses: readonly LimitStatus[] }): number {
  return Math.max(...statuses.map(({ used, total }) => used / total));
}
