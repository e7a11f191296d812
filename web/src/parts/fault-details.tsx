import type { Fault } from '../service/fault.ts';
import { useWords } from '../words/words.tsx';

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
