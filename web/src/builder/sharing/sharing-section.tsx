import { useEffect, useState } from 'react';
import { defaultRole } from '#contract/roles.ts';
import { formatRoute } from '../../page/route.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Icon } from '../../parts/icon.tsx';
import { getName, isShared, type OwnApplication } from '../applications.ts';
import { ResultTag } from '../evaluation/evaluation-list.tsx';
import { type EvaluationState, findLastEvaluation } from '../evaluation/use-evaluations.ts';
import { useBuilderStrings } from '../strings/builder-strings.ts';
import type { AppDraft } from '../use-app-draft.ts';
import { AccessDialog } from './access-dialog.tsx';

interface SharingSectionProps {
  /** Undefined until the application is saved. */
  readonly stored: OwnApplication | undefined;
  readonly evaluationState: EvaluationState;
  readonly applyAccess: AppDraft['applyAccess'];
}

/** Summary of the access to an application, the dialog that changes it, and the link for its users. */
export function SharingSection({ stored, evaluationState, applyAccess }: SharingSectionProps) {
  const strings = useBuilderStrings();
  const [isOpen, setIsOpen] = useState(false);
  const link = stored && new URL(formatRoute({ at: 'new', deployment: stored.id }), document.baseURI).href;
  return (
    <section className="builder-section" aria-label={strings.sharing}>
      <h2>{strings.sharing}</h2>
      <p className="soft">{stored === undefined ? strings.saveToShare : toSummary(stored, strings)}</p>
      {stored !== undefined && (
        <div className="row">
          <button type="button" className="button" onClick={() => setIsOpen(true)}>
            <Icon name="share" />
            {strings.share}
          </button>
        </div>
      )}
      {stored !== undefined && !isShared(stored) && <EvaluationOffer evaluationState={evaluationState} />}
      {link !== undefined && (
        <p className="builder-link">
          <span className="soft small">{strings.shareLink}</span>
          <code>{link}</code>
          <CopyButton text={() => link} label={strings.shareLink} />
        </p>
      )}
      {isOpen && stored !== undefined && (
        <AccessDialog id={stored.id} name={getName(stored)} onChange={applyAccess} close={() => setIsOpen(false)} />
      )}
    </section>
  );
}

function toSummary(stored: OwnApplication, strings: ReturnType<typeof useBuilderStrings>): string {
  const { roles, users } = stored.access;
  return isShared(stored)
    ? strings.sharedWith(users.length, roles.map((role) => (role === defaultRole ? strings.standardRole : role)).join(', '))
    : strings.onlyYou;
}

/** Shows the last evaluation result and offers a new run before the application is shared. */
function EvaluationOffer({ evaluationState }: Pick<SharingSectionProps, 'evaluationState'>) {
  const strings = useBuilderStrings();
  const { requestLoad, setOpen, start, running, cases, version, isLoaded } = evaluationState;
  useEffect(requestLoad, [requestLoad]);
  const lastEvaluation = findLastEvaluation(evaluationState, version);
  const openEvaluation = (): void => {
    setOpen(true);
    if (cases.length > 0 && running === undefined) start();
    setTimeout(() => document.querySelector('#evaluation')?.scrollIntoView());
  };
  return (
    <div className="row" role="status">
      <span className="small">{strings.evaluateFirst}</span>
      {lastEvaluation !== undefined && <ResultTag evaluation={lastEvaluation} />}
      <button type="button" className="button slim" disabled={!isLoaded} onClick={openEvaluation}>
        {isLoaded && cases.length === 0 ? strings.addCases : strings.evaluateNow}
      </button>
    </div>
  );
}
