import { useCallback, useEffect, useRef, useState } from 'react';
import { capitalize } from '#base/text/sentence.ts';
import type { OperationsStrings } from '../locales/en/operations.ts';
import { ErrorMessage } from '../parts/error-message.tsx';
import { Icon } from '../parts/icon.tsx';
import { NamedPage } from '../parts/named-page.tsx';
import { useLoaded } from '../parts/use-loaded.ts';
import { usePage } from '../shell/page.tsx';
import { formatDateTime } from '../strings/formats.ts';
import { useLanguage } from '../strings/strings.tsx';
import { AuditSection } from './audit-section.tsx';
import { type ConfigurationIssue, findIssues, type NodeState, readState } from './node-state.ts';
import { useOperationsStrings } from './operations-strings.ts';
import { UpstreamsSection } from './upstreams-section.tsx';
import './operations.css';

const refreshMs = 15_000;

/** State of the service for administrators, with problems first. It refreshes automatically. */
export function OperationsPage({ openMenu }: { readonly openMenu: () => void }) {
  const { locale } = useLanguage();
  const strings = useOperationsStrings();
  const { service, announce } = usePage();
  /** Increments on a manual refresh, which may change the order. */
  const [round, setRound] = useState(0);
  const [isEnabled, setIsEnabled] = useState(true);
  const load = useCallback(async (signal: AbortSignal) => ({ ...(await readState(service, signal)), round }), [service, round]);
  const { value: state, error, isLoading, reload } = useLoaded(load);
  useAutoRefresh(reload, { everyMs: refreshMs, isEnabled });
  const asOfText = state && strings.asOf(new Date(state.nowMs).toLocaleTimeString(locale));
  // Only manual refreshes are announced.
  const visibleRound = state?.round ?? 0;
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs once per round
  useEffect(() => {
    if (visibleRound > 0 && asOfText !== undefined) announce(asOfText);
  }, [visibleRound]);
  return (
    <NamedPage name={strings.title} openMenu={openMenu}>
      <div className="sheet wide" aria-busy={isLoading}>
        <div className="sheet-title">
          <h1>{strings.title}</h1>
          <div className="refreshing">
            <label>
              <input type="checkbox" checked={isEnabled} onChange={() => setIsEnabled(!isEnabled)} />
              {strings.autoRefresh}
            </label>
            <button type="button" className="button" onClick={() => setRound((current) => current + 1)}>
              <Icon name="again" />
              {strings.refresh}
            </button>
          </div>
        </div>
        <ErrorMessage error={error} />
        {state !== undefined && (
          <>
            <p className="soft as-of">{asOfText}</p>
            <HealthSection state={state} />
            <UpstreamsSection upstreams={state.upstreams} round={state.round} />
            <ConfigurationSection state={state} />
          </>
        )}
        <AuditSection round={round} latest={state} />
      </div>
    </NamedPage>
  );
}

/** The current configuration, and a rejected change with its errors. */
function ConfigurationSection({ state }: { readonly state: NodeState }) {
  const strings = useOperationsStrings();
  const { locale } = useLanguage();
  const { files, loadedAtMs, rejectedAtMs, errors, warnings } = state;
  return (
    <section className="sheet-section operations-configuration" aria-label={strings.configuration}>
      <h2 tabIndex={-1}>{strings.configuration}</h2>
      {files.length === 0 ? (
        <p className="soft">{strings.embedded}</p>
      ) : (
        <ul className="configuration-files" aria-label={strings.configurationFiles}>
          {files.map((file) => (
            <li key={file}>
              <code>{file}</code>
            </li>
          ))}
        </ul>
      )}
      <p className="soft">{strings.loadedAt(formatDateTime(loadedAtMs, locale))}</p>
      {rejectedAtMs !== undefined && <p className="verdict bad">{strings.rejectedAt(formatDateTime(rejectedAtMs, locale))}</p>}
      <ConfigurationIssues title={strings.errors} issues={errors} />
      <ConfigurationIssues title={strings.warnings} issues={warnings} />
    </section>
  );
}

function ConfigurationIssues({ title, issues }: { readonly title: string; readonly issues: readonly ConfigurationIssue[] }) {
  const strings = useOperationsStrings();
  if (issues.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <ul className="configuration-issues">
        {issues.map(({ file, path, message, hint }) => (
          <li key={`${file} ${path} ${message}`}>
            <p className="issue-path">{path === '' ? strings.completeFile : <code>{path}</code>}</p>
            <p>{hint === '' ? message : `${message}. ${capitalize(hint)}`}</p>
            {file !== '' && <p className="soft small">{file}</p>}
          </li>
        ))}
      </ul>
    </>
  );
}

/** Health of the node that responded, with its problems. */
function HealthSection({ state }: { readonly state: NodeState }) {
  const strings = useOperationsStrings();
  const { locale } = useLanguage();
  const { version, runtime, startedAtMs, stores, notReadyReasons, reasons } = state;
  const { severity, upstreamCount, isConfigurationRejected } = findIssues(state);
  const verdict = { good: strings.ok, warning: strings.degraded, bad: strings.notReady }[severity];
  return (
    <section className="sheet-section" aria-label={strings.health}>
      <h2>{strings.health}</h2>
      <p className={`verdict ${severity}`}>{verdict}</p>
      {severity !== 'good' && (
        <ul className="reasons">
          {upstreamCount > 0 && (
            <li>
              <SectionLink section="upstreams">{strings.upstreamsWithIssues(upstreamCount)}</SectionLink>
            </li>
          )}
          {isConfigurationRejected && (
            <li>
              <SectionLink section="configuration">{strings.configurationRejected}</SectionLink>
            </li>
          )}
          {[...notReadyReasons, ...reasons].map(({ code, message }) => (
            <li key={`${code} ${message}`}>
              {message} <code className="soft small">{code}</code>
            </li>
          ))}
        </ul>
      )}
      <p className="soft">
        {strings.version(version, runtime)}, {strings.upSince(formatDateTime(startedAtMs, locale))}
      </p>
      <dl className="facts" aria-label={strings.stores}>
        {stores.map(({ content, kind, isUnavailable }) => (
          <div key={content}>
            <dt>{getName(strings, content)}</dt>
            <dd>
              {getName(strings, kind)}
              {isUnavailable && <strong className="error-text"> · {strings.unreachable}</strong>}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

interface SectionLinkProps {
  readonly section: 'upstreams' | 'configuration';
  readonly children: string;
}

/** Links to the section with details. */
function SectionLink({ section, children }: SectionLinkProps) {
  const go = (): void => {
    const heading = document.querySelector<HTMLElement>(`.operations-${section} h2`);
    heading?.scrollIntoView({ block: 'start' });
    heading?.focus({ preventScroll: true });
  };
  return (
    <button type="button" className="section-link" onClick={go}>
      {children}
    </button>
  );
}

const knownNames = ['records', 'files', 'limits', 'sqlite', 'postgres', 'disk', 's3', 'memory', 'redis'] as const;

/** Returns the text for a code, or the code if it is unknown. */
function getName(strings: OperationsStrings, name: string): string {
  const key = knownNames.find((candidate) => candidate === name);
  return key === undefined ? name : strings[key];
}

/**
 * Calls `refresh` at an interval. Waits while the page is hidden, and while text is selected, because the user may want to copy
 * it.
 */
function useAutoRefresh(refresh: () => void, { everyMs, isEnabled }: { everyMs: number; isEnabled: boolean }): void {
  const latest = useRef(refresh);
  latest.current = refresh;
  useEffect(() => {
    if (!isEnabled) return;
    let dueMs = performance.now() + everyMs;
    const refreshIfDue = (): void => {
      if (document.hidden || performance.now() < dueMs || getSelection()?.type === 'Range') return;
      dueMs = performance.now() + everyMs;
      latest.current();
    };
    const timer = setInterval(refreshIfDue, 1000);
    document.addEventListener('visibilitychange', refreshIfDue);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', refreshIfDue);
    };
  }, [everyMs, isEnabled]);
}
