import { useState } from 'react';
import { Icon, TextButton } from '../parts/icon.tsx';
import type { VisitorProvider } from '../shell/visitor.ts';
import { type Language, useLanguage } from '../strings/strings.tsx';
import { SignInError, type SignInProblem } from './sign-in-error.ts';

/** A note that the session has ended, with a button for a new sign-in that returns to the current view. */
export function SessionEndedNote({ provider }: { readonly provider: VisitorProvider }) {
  const { strings, language } = useLanguage();
  const [message, setMessage] = useState('');
  const signInAgain = async (): Promise<void> => {
    try {
      location.assign(await provider.getSignInUrl());
    } catch (error) {
      const description = error instanceof SignInError ? await loadDescription(error.problem, language).catch(() => '') : '';
      setMessage(description || strings.unreachable);
    }
  };
  return (
    <div className="banner page-banner" role="alert">
      <Icon name="leave" />
      <p>{message || strings.signInEnded}</p>
      <TextButton onClick={() => void signInAgain()}>{strings.signInAgain}</TextButton>
    </div>
  );
}

async function loadDescription(problem: SignInProblem, language: Language): Promise<string> {
  const { describeProblem, signInStrings } = await import('./sign-in-strings.ts');
  return describeProblem(problem, signInStrings[language]);
}
