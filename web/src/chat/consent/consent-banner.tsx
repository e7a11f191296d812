import { useEffect, useState } from 'react';
import type { Turn } from '../../conversation/conversation.ts';
import { Icon } from '../../parts/icon.tsx';
import { type ConsentStatus, readConsent } from '../../service/consents.ts';
import type { Deployment } from '../../service/deployments.ts';
import { useGetName, usePage } from '../../shell/page.tsx';
import { useStrings } from '../../strings/strings.tsx';
import { ConsentPrompt, listOtherDeployments } from './consent-prompt.tsx';
import { hasStageWithoutConsent } from './missing-consent.ts';
import '../notes.css';

interface ConsentBannerProps {
  readonly deployment: Deployment;
  readonly conversationId: string | undefined;
  readonly lastTurn: Turn | undefined;
}

/**
 * Shows an unanswered consent form: before the first question, and after a step of the last reply was rejected for lack of
 * consent.
 */
export function ConsentBanner({ deployment, conversationId, lastTurn }: ConsentBannerProps) {
  const strings = useStrings();
  const getName = useGetName();
  const { replyRunner } = usePage();
  const [isPostponed, setIsPostponed] = useState(false);
  const [isAgreed, setIsAgreed] = useState(false);
  const rejectedReply =
    lastTurn?.kind === 'reply' && lastTurn.state !== 'running' && hasStageWithoutConsent(lastTurn) ? lastTurn : undefined;
  const { id, name } = deployment;
  const rejectedReplyId = rejectedReply?.id ?? '';
  const status = useConsentStatus(id, rejectedReplyId);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a postponed form is shown again after another reply
  useEffect(() => setIsPostponed(false), [id, rejectedReplyId]);
  if (status === undefined || (lastTurn !== undefined && rejectedReply === undefined)) return null;
  if (isPostponed || isAgreed || status.isAccepted || status.form.size === 0) return null;
  const otherNames = listOtherDeployments(status.form, id).map((otherId) => strings.quoted(getName(otherId)));
  const onAccept = (): void => {
    setIsAgreed(true);
    if (rejectedReply && conversationId !== undefined) void replyRunner.answer(conversationId, rejectedReply.parent);
  };
  return (
    <div className="banner">
      <Icon name="shield" />
      <div>
        {rejectedReply !== undefined && otherNames.length > 0 && (
          <p>{strings.consentAfterRefusal(strings.quoted(name), otherNames.join(', '))}</p>
        )}
        <ConsentPrompt
          {...{ deployment: id, form: status.form, conversationId, onAccept }}
          key={rejectedReplyId}
          onPostpone={() => setIsPostponed(true)}
        />
      </div>
    </div>
  );
}

/** Returns the consent status of the user for a deployment. Undefined until it is known. */
function useConsentStatus(id: string, rejectedReplyId: string): ConsentStatus | undefined {
  const { service } = usePage();
  const [status, setStatus] = useState<ConsentStatus>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: checked again for each rejected reply
  useEffect(() => {
    let isCanceled = false;
    readConsent(service, id).then(
      (loaded) => !isCanceled && setStatus(loaded),
      () => undefined,
    );
    return () => {
      isCanceled = true;
    };
  }, [service, id, rejectedReplyId]);
  return status;
}
