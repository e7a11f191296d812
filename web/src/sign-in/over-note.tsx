import { useState } from 'react';
import type { VisitorsProvider } from '../page/visitor.ts';
import { Icon } from '../parts/icon.tsx';
import { type Language, useLanguage } from '../words/words.tsx';
import { SignInFault, type SignInTrouble } from './sign-in-fault.ts';

/** Says that the sign-in has ended and leads to a new one, from which one comes back to the same place. */
export function OverNote({ provider }: { readonly provider: VisitorsProvider }) {
  const { words, language } = useLanguage();
  const [trouble, setTrouble] = useState('');
  const again = async (): Promise<void> => {
    try {
      location.assign(await provider.signInAddress());
    } catch (thrown) {
      const told = thrown instanceof SignInFault ? await tell(thrown.trouble, language).catch(() => '') : '';
      setTrouble(told || words.unreachable);
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

async function tell(trouble: SignInTrouble, language: Language): Promise<string> {
  const [{ tellTrouble }, { signInWords }] = await Promise.all([import('./tell-trouble.ts'), import('./sign-in-words.ts')]);
  return tellTrouble(trouble, signInWords[language]);
}
