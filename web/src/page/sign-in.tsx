import { type FormEvent, useId, useState } from 'react';
import { AwayNote } from '../offline/away-note.tsx';
import { Mark, Notice } from '../parts/operator-brand.tsx';
import { ProviderButtons } from '../sign-in/provider-buttons.tsx';
import type { SignInTrouble } from '../sign-in/sign-in-fault.ts';
import { useSignInWords } from '../sign-in/sign-in-words.ts';
import { tellTrouble } from '../sign-in/tell-trouble.ts';
import { useWays } from '../sign-in/use-ways.ts';
import { useWords } from '../words/words.tsx';
import { readBrand } from './brand.ts';
import { toPlace } from './place.ts';

/** Why nobody was let in. */
export interface Trouble {
  /** What is said of it, or what came of a sign-in with an identity provider. */
  readonly said: string | SignInTrouble;
  /** It is the key that is not taken. */
  readonly isOfKey?: boolean;
  /** The service does not accept the credentials, so their session is over. */
  readonly isRefused?: boolean;
}

interface SignInProps {
  readonly isTrying: boolean;
  readonly trouble: Trouble | undefined;
  readonly onTrouble: (trouble: Trouble | undefined) => void;
  readonly onKey: (key: string) => void;
  /** Where the one who signed out here can sign out as well. */
  readonly left: { readonly name: string; readonly address: string } | undefined;
  /** Shows what the browser has, where nobody can sign in. */
  readonly readKept: () => void;
}

/** The ways in: the identity providers that are configured, and a key. */
export function SignIn({ isTrying, trouble, onTrouble, onKey, left, readKept }: SignInProps) {
  const own = useSignInWords();
  const [{ name }] = useState(readBrand);
  const { ways, isAway } = useWays();
  const hasProviders = ways !== undefined && ways.length > 0;
  return (
    <main className="sign-in" aria-busy={ways === undefined}>
      <div className="sign-in-card">
        <Mark size={44} />
        <h1>{name ?? own.signInTitle}</h1>
        <Notice />
        {toPlace(location.hash).at === 'shared' && <p>{own.sharedWaits}</p>}
        {left !== undefined && (
          <div className="farewell" role="status">
            <p className="soft">{own.signedOutHere(left.name)}</p>
            <button type="button" className="button" onClick={() => location.assign(left.address)}>
              {own.signOutThere(left.name)}
            </button>
          </div>
        )}
        {isAway && <AwayNote readKept={readKept} />}
        <Alert trouble={trouble?.isOfKey || isAway ? undefined : trouble} />
        {hasProviders && <ProviderButtons {...{ ways, onTrouble }} />}
        {ways !== undefined && <KeyForm {...{ isTrying, onKey, trouble, isPrimary: !hasProviders }} />}
      </div>
    </main>
  );
}

function Alert({ trouble }: { readonly trouble: Trouble | undefined }) {
  const own = useSignInWords();
  const said = trouble?.said;
  return (
    <p className="trouble" role="alert">
      {typeof said === 'object' ? tellTrouble(said, own) : said}
    </p>
  );
}

interface KeyFormProps extends Pick<SignInProps, 'isTrying' | 'onKey' | 'trouble'> {
  readonly isPrimary: boolean;
}

function KeyForm({ isTrying, onKey, trouble, isPrimary }: KeyFormProps) {
  const words = useWords();
  const own = useSignInWords();
  const [field, hint] = [useId(), useId()];
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const key = String(new FormData(event.currentTarget).get('key') ?? '').trim();
    if (key !== '') onKey(key);
  };
  return (
    <form className="key-form" onSubmit={submit}>
      <p id={hint} className="soft">
        {own.signInHint}
      </p>
      <label htmlFor={field}>{words.key}</label>
      <input
        {...{ id: field, name: 'key', type: 'password', autoComplete: 'off', spellCheck: false, required: true }}
        aria-describedby={hint}
        aria-invalid={trouble?.isOfKey === true}
      />
      <Alert trouble={trouble?.isOfKey ? trouble : undefined} />
      <button type="submit" className={isPrimary ? 'button primary' : 'button'} disabled={isTrying}>
        {isTrying ? own.signingIn : words.signIn}
      </button>
    </form>
  );
}
