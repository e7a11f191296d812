import type { Fault } from '../service/fault.ts';
import { adviceFor } from '../words/advice.ts';
import { useWords } from '../words/words.tsx';

/** What went wrong in words, and what helps; nothing where nothing did. */
export function Trouble({ fault }: { readonly fault: Fault | undefined }) {
  const words = useWords();
  if (fault === undefined) return null;
  const said = fault.code === 'connection_lost' ? words.unreachable : fault.message || `${words.faultTitle} (${fault.code}).`;
  return (
    <p className="trouble" role="alert">
      {said} {fault.code !== 'connection_lost' && adviceFor(fault, words)}
    </p>
  );
}
