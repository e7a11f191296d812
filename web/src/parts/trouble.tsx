import type { Fault } from '../service/fault.ts';
import { adviceFor } from '../words/advice.ts';
import { saidOf } from '../words/fault-words.ts';
import { useLanguage, useWords } from '../words/words.tsx';

/** What went wrong in words, and what helps; nothing where nothing did. */
export function Trouble({ fault }: { readonly fault: Fault | undefined }) {
  const { words, language } = useLanguage();
  if (fault === undefined) return null;
  const said = saidOf(fault, words);
  const wasAnswered = fault.code !== 'connection_lost';
  return (
    <div className="trouble" role="alert">
      <p>
        {said} {wasAnswered && adviceFor(fault, { words, language })}
      </p>
      {wasAnswered && said !== fault.message && <FaultDetails fault={fault} />}
    </div>
  );
}

/** What the people who run the service want to know of a fault. */
export function FaultDetails({ fault: { code, message, requestId } }: { readonly fault: Fault }) {
  const words = useWords();
  return (
    <details className="small soft">
      <summary>{words.faultDetails}</summary>
      {message !== '' && <p>{message}</p>}
      <p>{[code, requestId !== undefined && words.reference(requestId)].filter(Boolean).join(' · ')}</p>
    </details>
  );
}
