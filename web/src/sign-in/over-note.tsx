import { useState } from 'react';
import type { VisitorsProvider } from '../page/visitor.ts';
import { Icon } from '../parts/icon.tsx';
import { useWords } from '../words/words.tsx';
import { SignInFault, tellTrouble } from './sign-in-fault.ts';

/** Says that the sign-in has ended and leads to a new one, from which one comes back to the same place. */
export function OverNote({ provider }: { readonly provider: VisitorsProvider }) {
  const words = useWords();
  const [trouble, setTrouble] = useState('');
  const again = async (): Promise<void> => {
    try {
      location.assign(await provider.signInAddress());
    } catch (thrown) {
      setTrouble(thrown instanceof SignInFault ? tellTrouble(thrown.trouble, words) : words.unreachable);
    }
  };
  return (
    <div className="banner over-note" role="alert">
      <Icon name="leave" />
      <p>{trouble || words.signInEnded}</p>
      <button type="button" className="button" onClick={() => void again()}>
        {words.signInAgain}
      </button>
    </div>
  );
}
