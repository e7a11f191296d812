import { useEffect, useState } from 'react';
import type { Turn } from '../conversation/conversation.ts';
import { usePage } from '../page/page.tsx';
import { toHash } from '../page/place.ts';
import { Icon } from '../parts/icon.tsx';
import { readConsent } from '../service/consents.ts';
import type { Deployment } from '../service/deployments.ts';
import { useWords } from '../words/words.tsx';
import './notes.css';

interface ConsentBannerProps {
  readonly deployment: Deployment;
  readonly conversation: string | undefined;
  readonly last: Turn | undefined;
}

/** Tells of a form that waits for an answer: before the first question, and where a step of the last reply has failed. */
export function ConsentBanner({ deployment, conversation, last }: ConsentBannerProps) {
  const words = useWords();
  const { service } = usePage();
  const [isWanting, setIsWanting] = useState(false);
  const [isPutOff, setIsPutOff] = useState(false);
  const { id, name, requiresConsent } = deployment;
  const hasFailed = last?.kind === 'reply' && last.state !== 'running' && hasFailedStage(last);
  const moment = hasFailed ? last.id : '';
  // biome-ignore lint/correctness/useExhaustiveDependencies: looked at anew for each failed reply
  useEffect(() => {
    let isGone = false;
    setIsPutOff(false);
    readConsent(service, id).then(
      ({ isAccepted, form }) => !isGone && setIsWanting(!isAccepted && form.size > 0),
      () => undefined,
    );
    return () => {
      isGone = true;
    };
  }, [service, id, moment]);
  if (!isWanting || isPutOff || (last !== undefined && !hasFailed)) return null;
  return (
    <div className="banner">
      <Icon name="shield" />
      <p>
        {hasFailed
          ? words.consentAfterFailure(name)
          : requiresConsent
            ? words.consentBannerItself(name)
            : words.consentBanner(name)}
      </p>
      <a
        className="button"
        href={toHash({ at: 'consent', deployment: id, ...(conversation !== undefined && { back: conversation }) })}
      >
        {words.consentLook}
      </a>
      <button type="button" className="quiet-link" onClick={() => setIsPutOff(true)}>
        {words.later}
      </button>
    </div>
  );
}

function hasFailedStage({ custom }: Turn & { readonly kind: 'reply' }): boolean {
  return Array.isArray(custom.stages) && custom.stages.some(({ status }) => status === 'failed');
}
