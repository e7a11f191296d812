import { Trouble } from '../../parts/trouble.tsx';
import type { OwnApplication } from '../applications.ts';
import { useBuilderWords } from '../words/builder-words.ts';
import { EvaluationList } from './evaluation-list.tsx';
import type { Evaluating } from './use-evaluations.ts';
import './evaluation.css';
import { useState } from 'react';
import { usePage } from '../../page/page.tsx';
import { CaseEditor } from './case-editor.tsx';
import { addCases, addTable, deleteCase, replaceCase } from './evaluations.ts';

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

interface CaseListProps {
  readonly stored: OwnApplication;
  readonly evaluating: Evaluating;
}

const firstCase = { input: '', checks: [{ type: 'contains' }] };

/** The cases of an application, and the one that is edited. */
function CaseList({ stored, evaluating }: CaseListProps) {
  const words = useBuilderWords();
  const { service } = usePage();
  const { cases, act, isLoaded } = evaluating;
  /** The id of the one that is edited; '' for a new one. */
  const [edited, setEdited] = useState<string>();
  const takeTable = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return;
    const text = await file.text();
    await act(() => addTable(service, stored.id, text));
  };
  const keep = async (work: () => Promise<void>): Promise<void> => {
    if (await act(work)) setEdited(undefined);
  };
  return (
    <>
      {isLoaded && cases.length === 0 && <p className="small">{words.noCases}</p>}
      <ol className="versions" aria-label={words.cases}>
        {cases.map((each) => (
          <li key={each.id} className="version">
            <div className="row">
              <p className="version-name case-name">
                <span>{each.name || each.question}</span> <span className="soft small">{words.checkCount(each.checks)}</span>
              </p>
              <button
                {...{ type: 'button', className: 'button slim', 'aria-expanded': edited === each.id }}
                aria-label={words.editCase(each.name || each.question)}
                onClick={() => setEdited(edited === each.id ? undefined : each.id)}
              >
                {words.edit}
              </button>
              <button
                {...{ type: 'button', className: 'button slim' }}
                aria-label={words.deleteCaseOf(each.name || each.question)}
                onClick={() => void act(() => deleteCase(service, each))}
              >
                {words.deleteCase}
              </button>
            </div>
            {edited === each.id && (
              <CaseEditor entry={each.entry} keep={(body) => void keep(() => replaceCase(service, each, body))} />
            )}
          </li>
        ))}
      </ol>
      {edited === '' && <CaseEditor entry={firstCase} keep={(body) => void keep(() => addCases(service, stored.id, body))} />}
      <div className="row">
        <button
          type="button"
          className="button slim"
          aria-expanded={edited === ''}
          onClick={() => setEdited(edited === '' ? undefined : '')}
        >
          {words.addCase}
        </button>
        <label className="button slim case-table">
          {words.fromTable}
          <input
            {...{ type: 'file', accept: '.csv,text/csv', className: 'heard-only' }}
            onChange={({ target }) => {
              void takeTable(target.files?.[0]);
              target.value = '';
            }}
          />
        </label>
      </div>
    </>
  );
}
