import type { Fault } from '../service/fault.ts';
import { adviceFor } from '../words/advice.ts';
import { saidOf } from '../words/fault-words.ts';
import { useLanguage } from '../words/words.tsx';
import { FaultDetails } from './fault-details.tsx';

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
