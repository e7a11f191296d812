import { useCallback, useId, useState } from 'react';
import { ErrorMessage } from '../../parts/error-message.tsx';
import { useLoaded } from '../../parts/use-loaded.ts';
import { usePage } from '../../shell/page.tsx';
import { formatDateTime } from '../../strings/formats.ts';
import { useLanguage } from '../../strings/strings.tsx';
import { useBuilderStrings } from '../builder-strings.ts';
import { type CaseOutcome, compareEvaluations, type Evaluation, readResults } from './evaluations.ts';
import { type EvaluationState, findLastEvaluation } from './use-evaluations.ts';

/** Evaluations that have ended, the newest first, with their results and comparisons. */
export function EvaluationList({ evaluationState: { evaluations } }: { readonly evaluationState: EvaluationState }) {
  const strings = useBuilderStrings();
  const endedEvaluations = evaluations.filter(({ isRunning }) => !isRunning);
  if (endedEvaluations.length === 0) return null;
  return (
    <ol className="versions" aria-label={strings.evaluations}>
      {endedEvaluations.map((evaluation) => (
        <EvaluationItem
          key={evaluation.id}
          {...{ evaluation, otherEvaluations: endedEvaluations.filter(({ id }) => id !== evaluation.id) }}
        />
      ))}
    </ol>
  );
}

interface EvaluationItemProps {
  readonly evaluation: Evaluation;
  readonly otherEvaluations: readonly Evaluation[];
}

function EvaluationItem({ evaluation, otherEvaluations }: EvaluationItemProps) {
  const strings = useBuilderStrings();
  const formatName = useEvaluationName();
  const selectId = useId();
  const [isOpen, setIsOpen] = useState(false);
  const [comparedId, setComparedId] = useState('');
  return (
    <li className="version">
      <div className="row">
        <p className="row version-name">
          <span>{formatName(evaluation)}</span>
          <ResultTag evaluation={evaluation} />
        </p>
        <button
          {...{ type: 'button', className: 'button slim', 'aria-expanded': isOpen }}
          aria-label={strings.resultsFor(formatName(evaluation))}
          onClick={() => setIsOpen(!isOpen)}
        >
          {strings.results}
        </button>
      </div>
      {evaluation.error !== '' && <p className="error-text small">{evaluation.error}</p>}
      {isOpen && (
        <>
          {otherEvaluations.length > 0 && (
            <div className="row small">
              <label htmlFor={selectId}>{strings.comparisonLabel}</label>
              <select id={selectId} value={comparedId} onChange={({ target }) => setComparedId(target.value)}>
                <option value="">{strings.noComparison}</option>
                {otherEvaluations.map((item) => (
                  <option key={item.id} value={item.id}>
                    {formatName(item)}
                  </option>
                ))}
              </select>
            </div>
          )}
          {comparedId === '' ? <Results id={evaluation.id} /> : <Comparison before={comparedId} after={evaluation.id} />}
        </>
      )}
    </li>
  );
}

/** Short result of an evaluation. */
export function ResultTag({ evaluation }: { readonly evaluation: Evaluation }) {
  const strings = useBuilderStrings();
  const { status, passed, total } = evaluation;
  const hasPassed = status === 'completed' && passed === total;
  const label =
    status === 'completed' ? strings.passedCount(passed, total) : status === 'cancelled' ? strings.wasCancelled : strings.didFail;
  return <span className={hasPassed ? 'tag' : 'tag evaluation-failed'}>{label}</span>;
}

/** Result of the newest completed evaluation of a version, if there is one. */
export function VersionResult({
  evaluationState,
  version,
}: {
  readonly evaluationState: EvaluationState;
  readonly version: number;
}) {
  const lastEvaluation = findLastEvaluation(evaluationState, version);
  return lastEvaluation === undefined ? null : <ResultTag evaluation={lastEvaluation} />;
}

function Results({ id }: { readonly id: string }) {
  const strings = useBuilderStrings();
  const { service } = usePage();
  const load = useCallback(() => readResults(service, id), [service, id]);
  const { value, error, isLoading } = useLoaded(load);
  return (
    <div aria-busy={isLoading}>
      <ErrorMessage error={error} />
      <ol className="evaluation-cases" aria-label={strings.results}>
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
  const strings = useBuilderStrings();
  const { service } = usePage();
  const load = useCallback(() => compareEvaluations(service, before, after), [service, before, after]);
  const { value: cases = [], error, isLoading } = useLoaded(load);
  const changedCases = cases.filter(({ change }) => change !== 'same');
  const count = (change: string): number => cases.filter((item) => item.change === change).length;
  return (
    <div aria-busy={isLoading}>
      <ErrorMessage error={error} />
      {!isLoading && !error && <p className="small">{strings.compared(count('better'), count('worse'), count('same'))}</p>}
      <ol className="evaluation-cases" aria-label={strings.changedCases}>
        {changedCases.map((item) => (
          <li key={item.key}>
            <p>
              <span className={item.change === 'worse' ? 'tag evaluation-failed' : 'tag'}>
                {Object.hasOwn(strings.changes, item.change)
                  ? strings.changes[item.change as keyof typeof strings.changes]
                  : item.change}
              </span>{' '}
              {item.name}
            </p>
            <div className="evaluation-sides">
              <div>
                <p className="soft small">{strings.sideBefore}</p>
                {item.before !== undefined && <OutcomeDetails result={item.before} />}
              </div>
              <div>
                <p className="soft small">{strings.sideAfter}</p>
                {item.after !== undefined && <OutcomeDetails result={item.after} />}
              </div>
            </div>
          </li>
        ))}
      </ol>
    </div>
  );
}

function OutcomeTag({ outcome }: { readonly outcome: string }) {
  const { outcomes } = useBuilderStrings();
  const label = Object.hasOwn(outcomes, outcome) ? outcomes[outcome as keyof typeof outcomes] : outcome;
  return <span className={outcome === 'passed' ? 'tag' : 'tag evaluation-failed'}>{label}</span>;
}

function OutcomeDetails({ result: { reasons, answer, durationMs } }: { readonly result: CaseOutcome }) {
  const strings = useBuilderStrings();
  const { locale } = useLanguage();
  const seconds = (durationMs / 1000).toLocaleString(locale, { maximumFractionDigits: 1 });
  return (
    <>
      {reasons.map((reason) => (
        <p key={reason} className="small evaluation-reason">
          {reason}
        </p>
      ))}
      <details className="small">
        <summary>{strings.answerAfter(seconds)}</summary>
        <pre className="evaluation-answer">{answer || strings.noText}</pre>
      </details>
    </>
  );
}

function useEvaluationName(): (evaluation: Evaluation) => string {
  const strings = useBuilderStrings();
  const { locale } = useLanguage();
  return ({ startedAtMs, version }) => `${strings.versionNumber(version)}, ${formatDateTime(startedAtMs, locale)}`;
}
