import { useCallback, useEffect, useRef, useState } from 'react';
import { usePage } from '../page/page.tsx';
import { Icon } from '../parts/icon.tsx';
import { NamedPage } from '../parts/named-page.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { useLoaded } from '../parts/use-loaded.ts';
import { useLanguage } from '../words/words.tsx';
import { AuditSection } from './audit-section.tsx';
import { useOperationsWords } from './operations-words.ts';
import { type ConfigurationFault, type NodeState, readState } from './read-operations.ts';
import { UpstreamsSection } from './upstreams-section.tsx';
import './operations.css';
import type { OperationsWords } from './operations-english.ts';
import { toMoment } from './to-moment.ts';
import { troublesOf } from './trouble-of.ts';

const everyMs = 15_000;

/** How the service is, for those who look after it: what is wrong first, and brought up to date by itself. */
export function OperationsPage({ openMenu }: { readonly openMenu: () => void }) {
  const { language } = useLanguage();
  const words = useOperationsWords();
  const { service, announce } = usePage();
  /** Grows when it is asked for, and everything may stand in another order. */
  const [round, setRound] = useState(0);
  const [isOn, setIsOn] = useState(true);
  const load = useCallback(async (signal: AbortSignal) => ({ ...(await readState(service, signal)), round }), [service, round]);
  const { value: state, fault, isLoading, reload } = useLoaded(load);
  useRefreshing(reload, { everyMs, isOn });
  const asOf = state && words.asOf(new Date(state.nowMs).toLocaleTimeString(language));
  // What comes by itself is not read out again and again.
  const shownRound = state?.round ?? 0;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each round
  useEffect(() => {
    if (shownRound > 0 && asOf !== undefined) announce(asOf);
  }, [shownRound]);
  return (
    <NamedPage name={words.title} openMenu={openMenu}>
      <div className="sheet wide" aria-busy={isLoading}>
        <div className="sheet-title">
          <h1>{words.title}</h1>
          <div className="refreshing">
            <label>
              <input type="checkbox" checked={isOn} onChange={() => setIsOn(!isOn)} />
              {words.byItself}
            </label>
            <button type="button" className="button" onClick={() => setRound((now) => now + 1)}>
              <Icon name="again" />
              {words.refresh}
            </button>
          </div>
        </div>
        <Trouble fault={fault} />
        {state !== undefined && (
          <>
            <p className="soft as-of">{asOf}</p>
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

/** What is in force since when, what was refused, and where it is at fault. */
function ConfigurationSection({ state }: { readonly state: NodeState }) {
  const words = useOperationsWords();
  const { language } = useLanguage();
  const { files, loadedAtMs, refusedAtMs, faults, warnings } = state;
  return (
    <section className="sheet-section operations-configuration" aria-label={words.configuration}>
      <h2 tabIndex={-1}>{words.configuration}</h2>
      {files.length === 0 ? (
        <p className="soft">{words.embedded}</p>
      ) : (
        <ul className="configuration-files" aria-label={words.filesOf}>
          {files.map((file) => (
            <li key={file}>
              <code>{file}</code>
            </li>
          ))}
        </ul>
      )}
      <p className="soft">{words.loadedAt(toMoment(loadedAtMs, language))}</p>
      {refusedAtMs !== undefined && <p className="verdict bad">{words.refusedAt(toMoment(refusedAtMs, language))}</p>}
      <Faults title={words.faults} faults={faults} />
      <Faults title={words.warnings} faults={warnings} />
    </section>
  );
}

function Faults({ title, faults }: { readonly title: string; readonly faults: readonly ConfigurationFault[] }) {
  const words = useOperationsWords();
  if (faults.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <ul className="faults">
        {faults.map(({ file, path, message, hint }) => (
          <li key={`${file} ${path} ${message}`}>
            <p className="fault-path">{path === '' ? words.wholeFile : <code>{path}</code>}</p>
            <p>{[message, hint].filter((part) => part !== '').join('; ')}</p>
            {file !== '' && <p className="soft small">{file}</p>}
          </li>
        ))}
      </ul>
    </>
  );
}

/** Whether all is well, and if not, why. */
function HealthSection({ state }: { readonly state: NodeState }) {
  const words = useOperationsWords();
  const { language } = useLanguage();
  const { version, runtime, startedAtMs, stores, hindrances, reasons } = state;
  const { look, upstreams, isConfigurationRefused } = troublesOf(state);
  const said = { good: words.ok, doubtful: words.degraded, bad: words.notReady }[look];
  return (
    <section className="sheet-section" aria-label={words.health}>
      <h2>{words.health}</h2>
      <p className={`verdict ${look}`}>{said}</p>
      {look !== 'good' && (
        <ul className="reasons">
          {upstreams > 0 && (
            <li>
              <WayTo section="upstreams">{words.upstreamsInTrouble(upstreams)}</WayTo>
            </li>
          )}
          {isConfigurationRefused && (
            <li>
              <WayTo section="configuration">{words.configurationRefused}</WayTo>
            </li>
          )}
          {[...hindrances, ...reasons].map(({ code, message }) => (
            <li key={`${code} ${message}`}>
              {message} <code className="soft small">{code}</code>
            </li>
          ))}
        </ul>
      )}
      <p className="soft">
        {words.version(version, runtime)}, {words.upSince(toMoment(startedAtMs, language))}
      </p>
      <dl className="facts" aria-label={words.stores}>
        {stores.map(({ holds, kind, isAway }) => (
          <div key={holds}>
            <dt>{nameOf(words, holds)}</dt>
            <dd>
              {nameOf(words, kind)}
              {isAway && <strong className="trouble"> · {words.away}</strong>}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

interface WayToProps {
  readonly section: 'upstreams' | 'configuration';
  readonly children: string;
}

/** Leads to the part of the page that has more of it. */
function WayTo({ section, children }: WayToProps) {
  const go = (): void => {
    const heading = document.querySelector<HTMLElement>(`.operations-${section} h2`);
    heading?.scrollIntoView({ block: 'start' });
    heading?.focus({ preventScroll: true });
  };
  return (
    <button type="button" className="way-to" onClick={go}>
      {children}
    </button>
  );
}

const named = ['records', 'files', 'limits', 'sqlite', 'postgres', 'disk', 's3', 'memory', 'redis'] as const;

/** In words; a word that this page does not know yet, as it is. */
function nameOf(words: OperationsWords, name: string): string {
  const known = named.find((each) => each === name);
  return known === undefined ? name : words[known];
}

/**
 * Calls `refresh` every so often while the page is seen, and as it comes to be seen again after that time; not while something of
 * it is marked, as text is that somebody is about to copy.
 */
function useRefreshing(refresh: () => void, { everyMs, isOn }: { everyMs: number; isOn: boolean }): void {
  const latest = useRef(refresh);
  latest.current = refresh;
  useEffect(() => {
    if (!isOn) return;
    let dueMs = performance.now() + everyMs;
    const act = (): void => {
      if (document.hidden || performance.now() < dueMs || getSelection()?.type === 'Range') return;
      dueMs = performance.now() + everyMs;
      latest.current();
    };
    const timer = setInterval(act, 1000);
    document.addEventListener('visibilitychange', act);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', act);
    };
  }, [everyMs, isOn]);
}
