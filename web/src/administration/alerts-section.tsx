import { useCallback } from 'react';
import { capitalize } from '#base/text/sentence.ts';
import { CodeBlock } from '../markdown/code-block.tsx';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { useLoaded } from '../parts/use-loaded.ts';
import { usePage } from '../shell/page.tsx';
import { formatDateTime } from '../strings/formats.ts';
import { useLanguage } from '../strings/strings.tsx';
import { AdminError } from './admin-error.tsx';
import { useAdminStrings, useFieldStrings } from './admin-strings.ts';
import { type ConfiguredAlert, listAlerts } from './entries.ts';

const example = `alerts:
  - of: project:search
    window: cost.month
    at: [0.8, 1]
    url: https://hooks.example.com/parley
    secret: \${ALERT_SECRET}
`;

/** The configured alerts with the state of their webhooks, and how to add one. */
export function AlertsSection() {
  const strings = useAdminStrings();
  const { locale } = useLanguage();
  const { service } = usePage();
  const load = useCallback((signal: AbortSignal) => listAlerts(service, signal), [service]);
  const { value: alerts, error, isLoading } = useLoaded(load);
  const columns: readonly [Column<ConfiguredAlert>, ...Column<ConfiguredAlert>[]] = [
    { name: strings.limit, render: (alert) => <AlertName alert={alert} /> },
    {
      name: strings.threshold,
      render: ({ at }) =>
        at.map((part) => part.toLocaleString(locale, { style: 'percent', maximumFractionDigits: 2 })).join(', '),
    },
    { name: strings.receiver, render: ({ server }) => <code className="small entry-name">{server}</code> },
    { name: strings.health, render: (alert) => <AlertState alert={alert} /> },
  ];
  return (
    <section className="sheet-section" aria-label={strings.alerts} aria-busy={isLoading}>
      <h2>{strings.alerts}</h2>
      <p className="soft">{strings.alertsIntro}</p>
      <AdminError error={error} />
      {alerts?.length === 0 && <p className="empty-state">{strings.noAlerts}</p>}
      {alerts !== undefined && alerts.length > 0 && (
        <DataTable<ConfiguredAlert> {...{ label: strings.alerts, columns, rows: alerts, getKey: ({ path }) => path }} isStacked />
      )}
      <h3>{strings.addAlert}</h3>
      <p>{strings.addAlertIntro}</p>
      <CodeBlock text={example} language="yaml" isComplete />
      <ul className="alert-fields">
        {Object.entries(strings.alertFields).map(([field, text]) => (
          <li key={field}>
            <code>{field}</code>: {text}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The limit of an alert in words, such as “Project search, tokens a day, gpt”. */
function AlertName({ alert: { of, window } }: { readonly alert: ConfiguredAlert }) {
  const { alertScopes } = useAdminStrings();
  const { labels } = useFieldStrings();
  const [scope = '', name] = splitAt(of, ':');
  const [limit, deployment] = splitAt(window, ':');
  const [kind, period = ''] = splitAt(limit, '.');
  const field = kind === 'requests' ? `request${capitalize(period)}` : period;
  const label = kind === 'cost' ? `${labels.costLimit}: ${labels[`costLimit.${period}`] ?? period}` : (labels[field] ?? limit);
  return (
    <span className="entry-name">
      <span>
        {Object.hasOwn(alertScopes, scope) ? alertScopes[scope] : scope} {name !== undefined && <strong>{name}</strong>}
      </span>
      <span className="soft small">
        {label}
        {deployment !== undefined && deployment !== '*' && ` · ${deployment}`}
      </span>
    </span>
  );
}

function splitAt(text: string, separator: string): readonly [string, string | undefined] {
  const index = text.indexOf(separator);
  return index === -1 ? [text, undefined] : [text.slice(0, index), text.slice(index + 1)];
}

function AlertState({ alert: { lastSentAtMs, lastFailure, nextAttemptAtMs, pending } }: { readonly alert: ConfiguredAlert }) {
  const strings = useAdminStrings();
  const { locale } = useLanguage();
  return (
    <span className="alert-state">
      <span>{lastSentAtMs === undefined ? strings.notSent : strings.lastSent(formatDateTime(lastSentAtMs, locale))}</span>
      {lastFailure !== undefined && (
        <span className="error-text">
          {strings.sendingFailed(
            lastFailure.atMs === undefined ? '' : formatDateTime(lastFailure.atMs, locale),
            lastFailure.error,
          )}
        </span>
      )}
      {nextAttemptAtMs !== undefined && (
        <span>{strings.nextAttempt(formatDateTime(nextAttemptAtMs, locale), pending.toLocaleString(locale))}</span>
      )}
    </span>
  );
}
