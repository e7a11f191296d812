import { useLanguage } from '../words/words.tsx';
import type { OperationsWords } from './operations-english.ts';
import { useOperationsWords } from './operations-words.ts';
import type { NodeState } from './read-operations.ts';
import { toMoment } from './to-moment.ts';

/** Whether all is well, and if not, why. */
export function HealthSection({ state }: { readonly state: NodeState }) {
  const words = useOperationsWords();
  const { language } = useLanguage();
  const { version, runtime, startedAtMs, stores, hindrances, reasons } = state;
  const [look, said] = verdictOf(state, words);
  return (
    <section className="sheet-section" aria-label={words.health}>
      <h2>{words.health}</h2>
      <p className={`verdict ${look}`}>{said}</p>
      {hindrances.length + reasons.length > 0 && (
        <ul className="reasons">
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

function verdictOf({ hindrances, reasons }: NodeState, words: OperationsWords): readonly [look: string, said: string] {
  if (hindrances.length > 0) return ['bad', words.notReady];
  return reasons.length > 0 ? ['doubtful', words.degraded] : ['good', words.ok];
}

const named = ['records', 'files', 'limits', 'sqlite', 'postgres', 'disk', 's3', 'memory', 'redis'] as const;

/** In words; a word that this page does not know yet, as it is. */
function nameOf(words: OperationsWords, name: string): string {
  const known = named.find((each) => each === name);
  return known === undefined ? name : words[known];
}
