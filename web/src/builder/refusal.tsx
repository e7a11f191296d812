import type { Fault } from '../service/fault.ts';
import { adviceFor } from '../words/advice.ts';
import { useLanguage } from '../words/words.tsx';
import { useBuilderWords } from './builder-words.ts';
import type { FieldFaults } from './field-faults.ts';

interface RefusalProps {
  readonly fault: Fault | undefined;
  readonly faults: FieldFaults;
  readonly isLoaded: boolean;
  /** The way to a field in words; undefined where its path says more. */
  readonly toTrail: ((field: string) => string) | undefined;
  readonly goTo: (field: string) => void;
  readonly load: () => void;
  readonly saveOver: () => void;
}

/** Why an application was not saved, or not found, and the way out. */
export function Refusal({ fault, faults, isLoaded, toTrail, goTo, load, saveOver }: RefusalProps) {
  const { words, language } = useLanguage();
  const builderWords = useBuilderWords();
  if (fault === undefined) return null;
  if (fault.status === 412 && isLoaded) {
    return (
      <div className="banner" role="alert">
        <p>{builderWords.changedElsewhere}</p>
        <button type="button" className="button" onClick={load}>
          {builderWords.loadStored}
        </button>
        <button type="button" className="button" onClick={saveOver}>
          {builderWords.saveOver}
        </button>
      </div>
    );
  }
  if (fault.status === 400 && isLoaded) {
    return (
      <div className="builder-refusal" role="alert">
        <p>
          <strong>{builderWords.refused}</strong>
        </p>
        {faults.size === 0 && <p>{fault.message}</p>}
        <ul>
          {[...faults].map(([field, what]) => (
            <li key={field}>
              <button type="button" className="quiet-link" onClick={() => goTo(field)}>
                {toTrail === undefined ? (
                  <code>{field.replace(/^applicationProperties\./, '')}</code>
                ) : (
                  <strong>{toTrail(field)}</strong>
                )}{' '}
                {what}
              </button>
            </li>
          ))}
        </ul>
      </div>
    );
  }
  return (
    <p className="trouble" role="alert">
      {fault.message || words.unreachable} {adviceFor(fault, { words, language })}
    </p>
  );
}
