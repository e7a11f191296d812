import { useState } from 'react';
import { useAction } from '../../parts/use-loaded.ts';
import { acceptConsent, type ConsentForm, readConsent } from '../../service/consents.ts';
import { useGetName, usePage } from '../../shell/page.tsx';
import { formatRoute } from '../../shell/route.ts';
import { describeError } from '../../strings/describe-error.ts';
import { useStrings } from '../../strings/strings.tsx';
import { focusMessage } from '../focus-message.ts';

interface ConsentPromptProps {
  readonly deployment: string;
  /** The form as received from the service. */
  readonly form: ConsentForm;
  /** The chat that needs the consent, if it has started. */
  readonly conversationId: string | undefined;
  /** Called to resume the action that needed the consent. */
  readonly onAccept: () => void;
  readonly onPostpone?: () => void;
}

/** Explains the data that is shared and the applications that receive it, and lets the user accept. */
export function ConsentPrompt({ deployment, form: initialForm, conversationId, onAccept, onPostpone }: ConsentPromptProps) {
  const strings = useStrings();
  const { service, announce } = usePage();
  const getName = useGetName();
  const [form, setForm] = useState(initialForm);
  const { error, isRunning: isSending, run } = useAction();
  const name = strings.quoted(getName(deployment));
  const agree = async (): Promise<void> => {
    if (await run(() => acceptConsent(service, deployment, form))) {
      announce(strings.consentAccepted(name));
      focusMessage();
      onAccept();
    } else {
      const currentStatus = await readConsent(service, deployment).catch(() => undefined);
      if (currentStatus !== undefined) setForm(currentStatus.form);
    }
  };
  const otherNames = listOtherDeployments(form, deployment).map((id) => strings.quoted(getName(id)));
  return (
    <div className="consent-ask">
      <p>{otherNames.length > 0 ? strings.consentShares(name, otherNames.join(', ')) : strings.consentSharesItself(name)}</p>
      {error !== undefined && (
        <p className="error-text" role="alert">
          {error.code === 'consent_outdated' ? strings.consentOutdated : describeError(error, strings)}
        </p>
      )}
      <p className="row">
        <button type="button" className="button primary" disabled={isSending} onClick={() => void agree()}>
          {strings.agree}
        </button>
        <a
          className="quiet-link"
          href={formatRoute({ at: 'consent', deployment, ...(conversationId !== undefined && { back: conversationId }) })}
        >
          {strings.reviewPermissions}
        </a>
        {onPostpone !== undefined && (
          <button type="button" className="quiet-link" onClick={onPostpone}>
            {strings.later}
          </button>
        )}
      </p>
    </div>
  );
}

/** Lists the IDs of the other deployments that a form requires consent for. */
export function listOtherDeployments(form: ConsentForm, deployment: string): readonly string[] {
  return [...form].filter(([id, isRequired]) => isRequired && id !== deployment).map(([id]) => id);
}
