import { Trouble } from '../parts/trouble.tsx';
import type { OwnApplication } from './applications.ts';
import { useBuilderWords } from './builder-words.ts';
import { CaseList } from './case-list.tsx';
import { EvaluationList } from './evaluation-list.tsx';
import type { Evaluating } from './use-evaluations.ts';
import './evaluation.css';

interface EvaluationSectionProps {
  readonly stored: OwnApplication;
  readonly evaluating: Evaluating;
  /** Whether something is not saved, which is not evaluated. */
  readonly isDirty: boolean;
}

/** Cases of an application, runs of them, and two runs side by side; folded as long as nobody asks for it. */
export function EvaluationSection({ stored, evaluating, isDirty }: EvaluationSectionProps) {
  const words = useBuilderWords();
  const { isOpen, setOpen, fault, isLoading } = evaluating;
  return (
    <details
      className="builder-tools"
      id="evaluation"
      open={isOpen}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>{words.evaluation}</summary>
      {isOpen && (
        <div className="builder-tools-body evaluation" aria-busy={isLoading}>
          <p className="soft small">{words.evaluationHint}</p>
          <Trouble fault={fault} />
          <CaseList {...{ stored, evaluating }} />
          <RunBar {...{ evaluating, isDirty }} />
          <EvaluationList evaluating={evaluating} />
        </div>
      )}
    </details>
  );
}

function RunBar({ evaluating, isDirty }: Pick<EvaluationSectionProps, 'evaluating' | 'isDirty'>) {
  const words = useBuilderWords();
  const { cases, running, start, cancel, isLoaded } = evaluating;
  if (running !== undefined) {
    const { total, passed, failed, errors, version } = running;
    const done = passed + failed + errors;
    const said = words.evaluationRuns(version, done, total);
    return (
      <div className="row" role="status">
        <progress max={total} value={done} aria-label={said} />
        <span className="small">{said}</span>
        <button type="button" className="button slim" onClick={cancel}>
          {words.cancelEvaluation}
        </button>
      </div>
    );
  }
  return (
    <div className="row">
      <button type="button" className="button" disabled={!isLoaded || cases.length === 0} onClick={() => start()}>
        {words.runCases(cases.length)}
      </button>
      {isDirty && <span className="soft small">{words.evaluatesSaved}</span>}
    </div>
  );
}
