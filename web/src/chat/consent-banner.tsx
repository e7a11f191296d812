import { type ReactNode, useEffect, useRef, useState } from 'react';
import type { Reply, Turn } from '../conversation/conversation.ts';
import { useNameOf, usePage } from '../page/page.tsx';
import { toHash } from '../page/place.ts';
import { Icon } from '../parts/icon.tsx';
import { type ConsentStatus, readConsent } from '../service/consents.ts';
import type { Deployment } from '../service/deployments.ts';
import { useWords } from '../words/words.tsx';
import { hasRefusedStage } from './consent-refusal.ts';
import './notes.css';

interface ConsentBannerProps {
  readonly deployment: Deployment;
  readonly conversation: string | undefined;
  readonly last: Turn | undefined;
}

/** Tells of a form that waits for an answer: before the first question, and where a step of the last reply was refused. */
export function ConsentBanner({ deployment, conversation, last }: ConsentBannerProps) {
  const words = useWords();
  const nameOf = useNameOf();
  const { place } = usePage();
  const [isPutOff, setIsPutOff] = useState(false);
  const refused = last?.kind === 'reply' && last.state !== 'running' && hasRefusedStage(last) ? last : undefined;
  const { id, name, requiresConsent } = deployment;
  const moment = refused?.id ?? '';
  const status = useConsentStatus(id, moment);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was put off is asked anew after another reply
  useEffect(() => setIsPutOff(false), [id, moment]);
  if (status === undefined || (last !== undefined && refused === undefined)) return null;
  const isAgreedNow = place.at === 'conversation' && place.isAgreed === true;
  if (refused !== undefined && conversation !== undefined && status.isAccepted && isAgreedNow) {
    return <AskAgain {...{ conversation, refused, name }} />;
  }
  if (isPutOff || status.isAccepted || status.form.size === 0) return null;
  const asking = [...status.form].filter(([each, asks]) => asks && each !== id).map(([each]) => nameOf(each));
  const said = refused !== undefined && asking.length > 0 ? words.consentAfterRefusal(name, asking.join(', ')) : undefined;
  return (
    <Banner said={said ?? (requiresConsent ? words.consentBannerItself(name) : words.consentBanner(name))}>
      <a
        className="button"
        href={toHash({ at: 'consent', deployment: id, ...(conversation !== undefined && { back: conversation }) })}
      >
        {words.consentLook}
      </a>
      <button type="button" className="quiet-link" onClick={() => setIsPutOff(true)}>
        {words.later}
      </button>
    </Banner>
  );
}

/** A step may have done something before another was refused: the user says whether all of it is done again. */
function AskAgain({ conversation, refused, name }: { conversation: string; refused: Reply; name: string }) {
  const words = useWords();
  const { asking, go } = usePage();
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => button.current?.focus(), []);
  const ask = (): void => {
    go({ at: 'conversation', id: conversation });
    void asking.answer(conversation, refused.parent);
  };
  return (
    <Banner said={words.consentAccepted(name)}>
      <button type="button" ref={button} className="button primary" onClick={ask}>
        {words.askAgain}
      </button>
    </Banner>
  );
}

function Banner({ said, children }: { readonly said: string; readonly children: ReactNode }) {
  return (
    <div className="banner">
      <Icon name="shield" />
      <p>{said}</p>
      {children}
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
