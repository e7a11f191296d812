import { useCallback, useId, useState } from 'react';
import { usePage } from '../../page/page.tsx';
import { Trouble } from '../../parts/trouble.tsx';
import { useLoaded } from '../../parts/use-loaded.ts';
import { useLanguage } from '../../words/words.tsx';
import { useBuilderWords } from '../words/builder-words.ts';
import { type CaseOutcome, compareEvaluations, type Evaluation, readResults } from './evaluations.ts';
import { type Evaluating, lastOf } from './use-evaluations.ts';

/** What evaluations came to, the newest first, each with its results and beside another one. */
export function EvaluationList({ evaluating: { evaluations } }: { readonly evaluating: Evaluating }) {
  const words = useBuilderWords();
  const ended = evaluations.filter(({ isRunning }) => !isRunning);
  if (ended.length === 0) return null;
  return (
    <ol className="versions" aria-label={words.evaluations}>
      {ended.map((evaluation) => (
        <EvaluationItem key={evaluation.id} {...{ evaluation, others: ended.filter(({ id }) => id !== evaluation.id) }} />
      ))}
    </ol>
  );
}

interface EvaluationItemProps {
  readonly evaluation: Evaluation;
  readonly others: readonly Evaluation[];
}

function EvaluationItem({ evaluation, others }: EvaluationItemProps) {
  const words = useBuilderWords();
  const toName = useEvaluationName();
  const picker = useId();
  const [isOpen, setIsOpen] = useState(false);
  const [other, setOther] = useState('');
  return (
    <li className="version">
      <div className="row">
        <p className="row version-name">
          <span>{toName(evaluation)}</span>
          <ResultTag evaluation={evaluation} />
        </p>
        <button
          {...{ type: 'button', className: 'button slim', 'aria-expanded': isOpen }}
          aria-label={words.resultsOf(toName(evaluation))}
          onClick={() => setIsOpen(!isOpen)}
        >
          {words.results}
        </button>
      </div>
      {evaluation.error !== '' && <p className="trouble small">{evaluation.error}</p>}
      {isOpen && (
        <>
          {others.length > 0 && (
            <div className="row small">
              <label htmlFor={picker}>{words.besides}</label>
              <select id={picker} value={other} onChange={({ target }) => setOther(target.value)}>
                <option value="">{words.noOther}</option>
                {others.map((each) => (
                  <option key={each.id} value={each.id}>
                    {toName(each)}
                  </option>
                ))}
              </select>
            </div>
          )}
          {other === '' ? <Results id={evaluation.id} /> : <Comparison before={other} after={evaluation.id} />}
        </>
      )}
    </li>
  );
}

/** In short what an evaluation came to. */
export function ResultTag({ evaluation }: { readonly evaluation: Evaluation }) {
  const words = useBuilderWords();
  const { status, passed, total } = evaluation;
  const isFine = status === 'completed' && passed === total;
  const said =
    status === 'completed' ? words.passedOf(passed, total) : status === 'cancelled' ? words.wasCancelled : words.didFail;
  return <span className={isFine ? 'tag' : 'tag evaluation-fault'}>{said}</span>;
}

/** The last result of a version, where there is one. */
export function VersionResult({ evaluating, version }: { readonly evaluating: Evaluating; readonly version: number }) {
  const last = lastOf(evaluating, version);
  return last === undefined ? null : <ResultTag evaluation={last} />;
}

function Results({ id }: { readonly id: string }) {
  const words = useBuilderWords();
  const { service } = usePage();
  const load = useCallback(() => readResults(service, id), [service, id]);
  const { value, fault, isLoading } = useLoaded(load);
  return (
    <div aria-busy={isLoading}>
      <Trouble fault={fault} />
      <ol className="evaluation-cases" aria-label={words.results}>
        {value?.map((result) => (
          <li key={result.key}>
            <p>
              <OutcomeTag outcome={result.outcome} /> {result.name}
            </p>
            <OutcomeDetails result={result} />
          </li>
        ))}
      </ol>
    </div>
  );
}

function Comparison({ before, after }: { readonly before: string; readonly after: string }) {
  const words = useBuilderWords();
  const { service } = usePage();
  const load = useCallback(() => compareEvaluations(service, before, after), [service, before, after]);
  const { value: cases = [], fault, isLoading } = useLoaded(load);
  const changed = cases.filter(({ change }) => change !== 'same');
  const count = (change: string): number => cases.filter((each) => each.change === change).length;
  return (
    <div aria-busy={isLoading}>
      <Trouble fault={fault} />
      {!isLoading && <p className="small">{words.compared(count('better'), count('worse'), count('same'))}</p>}
      <ol className="evaluation-cases" aria-label={words.changedCases}>
        {changed.map((each) => (
          <li key={each.key}>
            <p>
              <span className={each.change === 'worse' ? 'tag evaluation-fault' : 'tag'}>
                {Object.hasOwn(words.changes, each.change)
                  ? words.changes[each.change as keyof typeof words.changes]
                  : each.change}
              </span>{' '}
              {each.name}
            </p>
            <div className="evaluation-sides">
              <div>
                <p className="soft small">{words.sideBefore}</p>
                {each.before !== undefined && <OutcomeDetails result={each.before} />}
              </div>
              <div>
                <p className="soft small">{words.sideAfter}</p>
                {each.after !== undefined && <OutcomeDetails result={each.after} />}
              </div>
            </div>
          </li>
        ))}
      </ol>
    </div>
  );
}

function OutcomeTag({ outcome }: { readonly outcome: string }) {
  const { outcomes } = useBuilderWords();
  const said = Object.hasOwn(outcomes, outcome) ? outcomes[outcome as keyof typeof outcomes] : outcome;
  return <span className={outcome === 'passed' ? 'tag' : 'tag evaluation-fault'}>{said}</span>;
}

function OutcomeDetails({ result: { reasons, answer, durationMs } }: { readonly result: CaseOutcome }) {
  const words = useBuilderWords();
  const { language } = useLanguage();
  const seconds = (durationMs / 1000).toLocaleString(language, { maximumFractionDigits: 1 });
  return (
    <>
      {reasons.map((reason) => (
        <p key={reason} className="small evaluation-reason">
          {reason}
        </p>
      ))}
      <details className="small">
        <summary>{words.answerAfter(seconds)}</summary>
        <pre className="evaluation-answer">{answer || words.noText}</pre>
      </details>
    </>
  );
}

function useEvaluationName(): (evaluation: Evaluation) => string {
  const words = useBuilderWords();
  const { language } = useLanguage();
  return ({ startedAtMs, version }) => {
    const at = new Date(startedAtMs).toLocaleString(language, { dateStyle: 'medium', timeStyle: 'medium' });
    return `${words.versionNumber(version)}, ${at}`;
  };
}
