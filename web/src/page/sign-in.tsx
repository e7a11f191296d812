import { type FormEvent, useId } from 'react';
import { Mark } from '../parts/mark.tsx';
import { useWords } from '../words/words.tsx';

interface SignInProps {
  readonly isTrying: boolean;
  readonly trouble: string;
  readonly onKey: (key: string) => void;
}

/** Asks for the key. */
export function SignIn({ isTrying, trouble, onKey }: SignInProps) {
  const words = useWords();
  const [field, hint] = [useId(), useId()];
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const key = String(new FormData(event.currentTarget).get('key') ?? '').trim();
    if (key !== '') onKey(key);
  };
  return (
    <main className="sign-in">
      <form className="sign-in-card" onSubmit={submit}>
        <Mark size={44} />
        <h1>{words.signInTitle}</h1>
        <p id={hint} className="soft">
          {words.signInHint}
        </p>
        <label htmlFor={field}>{words.key}</label>
        <input
          {...{ id: field, name: 'key', type: 'password', autoComplete: 'off', spellCheck: false, required: true }}
          aria-describedby={hint}
          aria-invalid={trouble !== ''}
        />
        <p className="trouble" role="alert">
          {trouble}
        </p>
        <button type="submit" className="button primary" disabled={isTrying}>
          {isTrying ? words.signingIn : words.signIn}
        </button>
      </form>
    </main>
  );
}
