import { useEffect, useState } from 'react';
import type { Turn } from '../../conversation/conversation.ts';
import { useNameOf, usePage } from '../../page/page.tsx';
import { Icon } from '../../parts/icon.tsx';
import { type ConsentStatus, readConsent } from '../../service/consents.ts';
import type { Deployment } from '../../service/deployments.ts';
import { useWords } from '../../words/words.tsx';
import { ConsentAsk } from './consent-ask.tsx';
import { hasRefusedStage } from './consent-refusal.ts';
import '../notes.css';

interface ConsentBannerProps {
  readonly deployment: Deployment;
  readonly conversation: string | undefined;
  readonly last: Turn | undefined;
}

/** Tells of a form that waits for an answer: before the first question, and where a step of the last reply was refused. */
export function ConsentBanner({ deployment, conversation, last }: ConsentBannerProps) {
  const words = useWords();
  const nameOf = useNameOf();
  const { asking } = usePage();
  const [isPutOff, setIsPutOff] = useState(false);
  const [isAgreed, setIsAgreed] = useState(false);
  const refused = last?.kind === 'reply' && last.state !== 'running' && hasRefusedStage(last) ? last : undefined;
  const { id, name } = deployment;
  const moment = refused?.id ?? '';
  const status = useConsentStatus(id, moment);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was put off is asked anew after another reply
  useEffect(() => setIsPutOff(false), [id, moment]);
  if (status === undefined || (last !== undefined && refused === undefined)) return null;
  if (isPutOff || isAgreed || status.isAccepted || status.form.size === 0) return null;
  const others = [...status.form].filter(([each, asks]) => asks && each !== id).map(([each]) => words.quoted(nameOf(each)));
  const goOn = (): void => {
    setIsAgreed(true);
    if (refused !== undefined && conversation !== undefined) void asking.answer(conversation, refused.parent);
  };
  return (
    <div className="banner">
      <Icon name="shield" />
      <div>
        {refused !== undefined && others.length > 0 && <p>{words.consentAfterRefusal(words.quoted(name), others.join(', '))}</p>}
        <ConsentAsk
          {...{ deployment: id, form: status.form, conversation, goOn }}
          key={moment}
          putOff={() => setIsPutOff(true)}
        />
      </div>
    </div>
  );
}

/** How the user has answered the form of a deployment; undefined as long as that is not known. */
function useConsentStatus(id: string, moment: string): ConsentStatus | undefined {
  const { service } = usePage();
  const [status, setStatus] = useState<ConsentStatus>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: looked at anew for each refused reply
  useEffect(() => {
    let isGone = false;
    readConsent(service, id).then(
      (read) => !isGone && setStatus(read),
      () => undefined,
    );
    return () => {
      isGone = true;
    };
  }, [service, id, moment]);
  return status;
}
