import { useMemo } from 'react';
import { useNameOf, usePage } from '../page/page.tsx';
import { toHash } from '../page/place.ts';
import { FaultDetails } from '../parts/fault-details.tsx';
import { Icon } from '../parts/icon.tsx';
import type { ConsentForm } from '../service/consents.ts';
import type { Fault } from '../service/fault.ts';
import { adviceFor } from '../words/advice.ts';
import { saidOfAnswer } from '../words/fault-words.ts';
import { useLanguage } from '../words/words.tsx';
import { ConsentAsk } from './consent-ask.tsx';
import './notes.css';

interface FaultNoteProps {
  readonly fault: Fault;
  /** When it came. */
  readonly atMs: number | undefined;
  readonly deployment: string;
  readonly conversationId: string;
  /** Asks the same once more. */
  readonly again: () => void;
}

/** What went wrong in words, and what helps. */
export function FaultNote({ fault, atMs, deployment, conversationId, again }: FaultNoteProps) {
  const { words, language } = useLanguage();
  const { signOut } = usePage();
  const name = useNameOf()(deployment);
  const form = useMemo(() => toForm(fault, deployment), [fault, deployment]);
  const consent = toHash({ at: 'consent', deployment, back: conversationId });
  return (
    <div className="fault">
      <Icon name="alert" />
      <div>
        <p className="fault-title">
          {fault.code === 'consent_required' ? words.consentMissing(words.quoted(name)) : saidOfAnswer(fault, words)}
        </p>
        {form === undefined ? (
          <p>{adviceFor(fault, { words, language, ...(atMs !== undefined && { atMs }) })}</p>
        ) : (
          <ConsentAsk {...{ deployment, form, goOn: again }} conversation={conversationId} />
        )}
        <FaultDetails fault={fault} />
        {fault.code === 'consent_required' && form === undefined && (
          <a className="button" href={consent}>
            {words.consentLook}
          </a>
        )}
        {fault.status === 401 && (
          <button type="button" className="button" onClick={signOut}>
            {words.signIn}
          </button>
        )}
      </div>
    </div>
  );
}

/** The form that a refusal carries, if it is that of the deployment itself. */
function toForm({ consent }: Fault, deployment: string): ConsentForm | undefined {
  return consent?.deployment === deployment ? new Map(Object.entries(consent.form)) : undefined;
}
