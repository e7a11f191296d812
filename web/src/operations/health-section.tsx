import { useLanguage } from '../words/words.tsx';
import type { OperationsWords } from './operations-english.ts';
import { useOperationsWords } from './operations-words.ts';
import type { NodeState } from './read-operations.ts';
import { toMoment } from './to-moment.ts';
import { troublesOf } from './trouble-of.ts';

/** Whether all is well, and if not, why. */
export function HealthSection({ state }: { readonly state: NodeState }) {
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
