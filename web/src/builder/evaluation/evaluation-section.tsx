import { useState } from 'react';
import { FileButton } from '../../parts/device-files.tsx';
import { ErrorMessage } from '../../parts/error-message.tsx';
import { TextButton } from '../../parts/icon.tsx';
import { usePage } from '../../shell/page.tsx';
import type { OwnApplication } from '../applications.ts';
import { useBuilderStrings } from '../builder-strings.ts';
import { CaseEditor } from './case-editor.tsx';
import { EvaluationList } from './evaluation-list.tsx';
import { addCases, addCasesFromCsv, deleteCase, replaceCase } from './evaluations.ts';
import type { EvaluationState } from './use-evaluations.ts';
import './evaluation.css';

interface EvaluationSectionProps {
  readonly application: OwnApplication;
  readonly evaluationState: EvaluationState;
  /** Whether there are unsaved changes, which are not evaluated. */
  readonly isDirty: boolean;
}

/** Cases, evaluations, and comparisons of an application in a section that starts collapsed. */
export function EvaluationSection({ application, evaluationState, isDirty }: EvaluationSectionProps) {
  const strings = useBuilderStrings();
  const { isOpen, setOpen, error, isLoading } = evaluationState;
  return (
    <details
      className="builder-disclosure"
      id="evaluation"
      open={isOpen}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>{strings.evaluation}</summary>
      {isOpen && (
        <div className="builder-disclosure-body evaluation" aria-busy={isLoading}>
          <p className="soft small">{strings.evaluationHint}</p>
          <ErrorMessage error={error} />
          <CaseList {...{ application, evaluationState }} />
          <RunBar {...{ evaluationState, isDirty }} />
          <EvaluationList evaluationState={evaluationState} />
        </div>
      )}
    </details>
  );
}

function RunBar({ evaluationState, isDirty }: Pick<EvaluationSectionProps, 'evaluationState' | 'isDirty'>) {
  const strings = useBuilderStrings();
  const { cases, running, start, cancel, isLoaded } = evaluationState;
  if (running !== undefined) {
    const { total, passed, failed, errors, version } = running;
    const done = passed + failed + errors;
    const label = strings.evaluationRuns(version, done, total);
    return (
      <div className="row" role="status">
        <progress max={total} value={done} aria-label={label} />
        <span className="small">{label}</span>
        <TextButton className="button slim" onClick={cancel}>
          {strings.cancelEvaluation}
        </TextButton>
      </div>
    );
  }
  return (
    <div className="row">
      <button type="button" className="button" disabled={!isLoaded || cases.length === 0} onClick={() => start()}>
        {strings.runCases(cases.length)}
      </button>
      {isDirty && <span className="soft small">{strings.unsavedNotEvaluated}</span>}
    </div>
  );
}

interface CaseListProps {
  readonly application: OwnApplication;
  readonly evaluationState: EvaluationState;
}

const newCase = { input: '', checks: [{ type: 'contains' }] };

/** The cases of an application, and the case being edited. */
function CaseList({ application, evaluationState }: CaseListProps) {
  const strings = useBuilderStrings();
  const { service } = usePage();
  const { cases, runAction, isLoaded } = evaluationState;
  /** ID of the case being edited. '' for a new one. */
  const [editedId, setEditedId] = useState<string>();
  const importCsv = async (file: File): Promise<void> => {
    const text = await file.text();
    await runAction(() => addCasesFromCsv(service, application.id, text));
  };
  const saveCase = async (work: () => Promise<void>): Promise<void> => {
    if (await runAction(work)) setEditedId(undefined);
  };
  return (
    <>
      {isLoaded && cases.length === 0 && <p className="small">{strings.noCases}</p>}
      <ol className="versions" aria-label={strings.cases}>
        {cases.map((item) => (
          <li key={item.id} className="version">
            <div className="row">
              <p className="version-name case-name">
                <span>{item.name || item.question}</span>{' '}
                <span className="soft small">{strings.checkCount(item.checkCount)}</span>
              </p>
              <button
                {...{ type: 'button', className: 'button slim', 'aria-expanded': editedId === item.id }}
                aria-label={strings.editCase(item.name || item.question)}
                onClick={() => setEditedId(editedId === item.id ? undefined : item.id)}
              >
                {strings.edit}
              </button>
              <button
                {...{ type: 'button', className: 'button slim' }}
                aria-label={strings.deleteCaseNamed(item.name || item.question)}
                onClick={() => void runAction(() => deleteCase(service, item))}
              >
                {strings.deleteCase}
              </button>
            </div>
            {editedId === item.id && (
              <CaseEditor
                entry={item.entry}
                onSave={(body) => void saveCase(() => replaceCase(service, item, body))}
                onCancel={() => setEditedId(undefined)}
              />
            )}
          </li>
        ))}
      </ol>
      {editedId === '' && (
        <CaseEditor
          entry={newCase}
          onSave={(body) => void saveCase(() => addCases(service, application.id, body))}
          onCancel={() => setEditedId(undefined)}
        />
      )}
      <div className="row">
        <button
          type="button"
          className="button slim"
          aria-expanded={editedId === ''}
          onClick={() => setEditedId(editedId === '' ? undefined : '')}
        >
          {strings.addCase}
        </button>
        <FileButton
          {...{ label: strings.fromTable, className: 'button slim', accept: '.csv,text/csv' }}
          onFile={(file) => void importCsv(file)}
        />
      </div>
    </>
  );
}
