import { useState } from 'react';
import { useNameOf, usePage } from '../../page/page.tsx';
import { toHash } from '../../page/place.ts';
import { acceptConsent, type ConsentForm, readConsent } from '../../service/consents.ts';
import { type Fault, faultOf } from '../../service/fault.ts';
import { saidOf } from '../../words/fault-words.ts';
import { useWords } from '../../words/words.tsx';
import { focusMessage } from '../focus-message.ts';

interface ConsentAskProps {
  readonly deployment: string;
  /** As the service gave it. */
  readonly form: ConsentForm;
  /** The conversation that it is asked in, if it has begun. */
  readonly conversation: string | undefined;
  /** What waited for the consent. */
  readonly goOn: () => void;
  readonly putOff?: () => void;
}

/** Says what would be shared with whom, and takes the answer. */
export function ConsentAsk({ deployment, form: given, conversation, goOn, putOff }: ConsentAskProps) {
  const words = useWords();
  const { service, announce } = usePage();
  const nameOf = useNameOf();
  const [form, setForm] = useState(given);
  const [fault, setFault] = useState<Fault>();
  const [isSending, setIsSending] = useState(false);
  const name = words.quoted(nameOf(deployment));
  const agree = async (): Promise<void> => {
    setIsSending(true);
    setFault(undefined);
    try {
      await acceptConsent(service, deployment, form);
      announce(words.consentAccepted(name));
      focusMessage();
      goOn();
    } catch (thrown) {
      setFault(faultOf(thrown));
      const today = await readConsent(service, deployment).catch(() => undefined);
      if (today !== undefined) setForm(today.form);
    }
    setIsSending(false);
  };
  const asking = [...form].filter(([id, asks]) => asks && id !== deployment).map(([id]) => words.quoted(nameOf(id)));
  return (
    <div className="consent-ask">
      <p>{asking.length > 0 ? words.consentShares(name, asking.join(', ')) : words.consentSharesItself(name)}</p>
      {fault !== undefined && (
        <p className="trouble" role="alert">
          {fault.code === 'consent_outdated' ? words.consentOutdated : saidOf(fault, words)}
        </p>
      )}
      <p className="row">
        <button type="button" className="button primary" disabled={isSending} onClick={() => void agree()}>
          {words.agree}
        </button>
        <a
          className="quiet-link"
          href={toHash({ at: 'consent', deployment, ...(conversation !== undefined && { back: conversation }) })}
        >
          {words.consentLook}
        </a>
        {putOff !== undefined && (
          <button type="button" className="quiet-link" onClick={putOff}>
            {words.later}
          </button>
        )}
      </p>
    </div>
  );
}
