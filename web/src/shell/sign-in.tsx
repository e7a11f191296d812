import { type FormEvent, type ReactNode, useEffect, useEffectEvent, useId, useRef, useState } from 'react';
import type { SignInOption } from '#contract/page/sign-in-option.ts';
import { readKnownUser } from '../offline/known-user.ts';
import { Icon, TextButton } from '../parts/icon.tsx';
import { Guard, lazyView } from '../parts/lazy-view.tsx';
import { Logo, OperatorNotice } from '../parts/operator-brand.tsx';
import { listenForSharedSignIn, type SharedSignIn } from '../sign-in/shared-sign-in.ts';
import { SignInError, type SignInProblem } from '../sign-in/sign-in-error.ts';
import { readSignInOptions, useSignInOptions } from '../sign-in/sign-in-options.ts';
import { describeProblem, useSignInStrings } from '../sign-in/sign-in-strings.ts';
import { useStrings } from '../strings/strings.tsx';
import { readBrand } from './brand.ts';
import { parseRoute } from './route.ts';
import '../sign-in/sign-in.css';

const FirstStart = lazyView(() => import('../sign-in/first-start.tsx').then(({ FirstStart: view }) => view));

/** Why the sign-in failed. */
export interface SignInFailure {
  /** A text, or a problem of an identity provider sign-in. */
  readonly message: string | SignInProblem;
  /** Whether the key was rejected. */
  readonly isKeyFailure?: boolean;
  /** Whether the service rejects the credentials, so that their session has ended. */
  readonly isRejected?: boolean;
}

interface SignInProps {
  /** Called with the sign-in of another tab. Undefined after the user signed out, because other tabs may have other users. */
  readonly onShared: ((shared: SharedSignIn) => void) | undefined;
  readonly isSigningIn: boolean;
  readonly failure: SignInFailure | undefined;
  readonly onFailure: (failure: SignInFailure | undefined) => void;
  /** `isPersistent`: the browser stores the key until the user signs out. */
  readonly onKey: (key: string, isPersistent: boolean) => void;
  /** Where the signed-out user can also sign out of the provider. */
  readonly providerSignOut: { readonly name: string; readonly address: string } | undefined;
  /** Shows the saved chats if the user cannot sign in. */
  readonly onReadOffline: () => void;
}

/** Sign-in options: the configured identity providers, and a key. */
export function SignIn({ isSigningIn, failure, onFailure, onKey, onShared, providerSignOut, onReadOffline }: SignInProps) {
  const signInStrings = useSignInStrings();
  useSharedSignIn(onShared, isSigningIn);
  const [{ name }] = useState(readBrand);
  const { options, isUnreachable } = useSignInOptions();
  const [isPersistent, setIsPersistent] = useState(false);
  const { providers = [], isFirstStart = false } = options ?? {};
  const hasProviders = providers.length > 0;
  const enter = (key: string): void => onKey(key, isPersistent);
  const keepSignedIn = (
    <label className="keep-signed-in">
      <input type="checkbox" checked={isPersistent} onChange={({ target }) => setIsPersistent(target.checked)} />
      <span>
        {signInStrings.keepSignedIn}
        <span className="soft small">{signInStrings.keepSignedInHint}</span>
      </span>
    </label>
  );
  return (
    <main className="sign-in" aria-busy={options === undefined}>
      <div className="sign-in-card">
        <Logo size={44} />
        <h1>{name ?? signInStrings.signInTitle}</h1>
        <OperatorNotice />
        {parseRoute(location.hash).at === 'shared' && <p>{signInStrings.sharedWaits}</p>}
        {providerSignOut !== undefined && (
          <div className="sign-in-note" role="status">
            <p className="soft">{signInStrings.signedOutHere(providerSignOut.name)}</p>
            <TextButton onClick={() => location.assign(providerSignOut.address)}>
              {signInStrings.signOutThere(providerSignOut.name)}
            </TextButton>
          </div>
        )}
        {isUnreachable && <UnreachableNote onReadOffline={onReadOffline} />}
        <Alert failure={failure?.isKeyFailure || isUnreachable ? undefined : failure} />
        {hasProviders && keepSignedIn}
        {hasProviders && <ProviderButtons {...{ providers, isPersistent, onFailure }} />}
        {options !== undefined && (
          <KeyForm {...{ isSigningIn, failure, isPrimary: !hasProviders }} onKey={enter}>
            {!hasProviders && keepSignedIn}
          </KeyForm>
        )}
        {isFirstStart && (
          <Guard fallback={null}>
            <FirstStart onKey={enter} />
          </Guard>
        )}
      </div>
    </main>
  );
}

/** Waits for a sign-in in another tab, which may only have been reloading when this one opened. */
function useSharedSignIn(onShared: SignInProps['onShared'], isSigningIn: boolean): void {
  const isBusy = useRef(isSigningIn);
  useEffect(() => {
    isBusy.current = isSigningIn;
  });
  const onAnswer = useEffectEvent((shared: SharedSignIn) => {
    // Several tabs can answer before this view is rendered again.
    isBusy.current = true;
    onShared?.(shared);
  });
  const isAccepted = useEffectEvent(() => !isBusy.current);
  const isListening = onShared !== undefined;
  useEffect(() => (isListening ? listenForSharedSignIn(onAnswer, isAccepted) : undefined), [isListening]);
}

function Alert({ failure }: { readonly failure: SignInFailure | undefined }) {
  const signInStrings = useSignInStrings();
  const message = failure?.message;
  return (
    <p className="error-text" role="alert">
      {typeof message === 'object' ? describeProblem(message, signInStrings) : message}
    </p>
  );
}

interface KeyFormProps extends Pick<SignInProps, 'isSigningIn' | 'failure'> {
  readonly onKey: (key: string) => void;
  readonly isPrimary: boolean;
  /** Shown above the button. */
  readonly children: ReactNode;
}

function KeyForm({ isSigningIn, onKey, failure, isPrimary, children }: KeyFormProps) {
  const strings = useStrings();
  const signInStrings = useSignInStrings();
  const [inputId, hintId] = [useId(), useId()];
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const key = String(new FormData(event.currentTarget).get('key') ?? '').trim();
    if (key !== '') onKey(key);
  };
  return (
    <form className="key-form" onSubmit={submit}>
      <p id={hintId} className="soft">
        {signInStrings.signInHint}
      </p>
      <label htmlFor={inputId}>{strings.key}</label>
      <input
        {...{ id: inputId, name: 'key', type: 'password', autoComplete: 'off', spellCheck: false, required: true }}
        aria-describedby={hintId}
        aria-invalid={failure?.isKeyFailure === true}
      />
      <Alert failure={failure?.isKeyFailure ? failure : undefined} />
      {children}
      <button type="submit" className={isPrimary ? 'button primary' : 'button'} disabled={isSigningIn}>
        {isSigningIn ? signInStrings.signingIn : strings.signIn}
      </button>
    </form>
  );
}

interface ProviderButtonsProps extends Pick<SignInProps, 'onFailure'> {
  readonly providers: readonly SignInOption[];
  /** Whether the browser stores the sign-in until the user signs out. */
  readonly isPersistent: boolean;
}

/** A button for each identity provider, which leaves the page. */
function ProviderButtons({ providers, isPersistent, onFailure }: ProviderButtonsProps) {
  const strings = useStrings();
  const signInStrings = useSignInStrings();
  const redirect = async (provider: SignInOption): Promise<void> => {
    onFailure(undefined);
    try {
      const { startSignIn } = await import('../sign-in/authorization-code.ts');
      location.assign(await startSignIn(provider.endpoints === null ? await reloadProvider(provider) : provider, isPersistent));
    } catch (error) {
      onFailure({ message: error instanceof SignInError ? error.problem : strings.unreachable });
    }
  };
  return (
    <div className="providers">
      {providers.map((provider) => (
        <button key={provider.name} type="button" className="button primary" onClick={() => void redirect(provider)}>
          {signInStrings.signInWith(provider.displayName)}
        </button>
      ))}
      <p className="divider soft small">
        <span>{signInStrings.orWithKey}</span>
      </p>
    </div>
  );
}

/** Reloads a provider that was unavailable when the page opened. */
async function reloadProvider(provider: SignInOption): Promise<SignInOption> {
  return (await readSignInOptions()).providers.find(({ name }) => name === provider.name) ?? provider;
}

/** A note that the user cannot sign in, with a link to the saved chats. */
function UnreachableNote({ onReadOffline }: { readonly onReadOffline: () => void }) {
  const strings = useStrings();
  return (
    <div className="sign-in-note" role="status">
      <p className="unreachable-note">
        <Icon name="offline" />
        {strings.offlineAtSignIn(!navigator.onLine)}
      </p>
      {readKnownUser() !== undefined && <TextButton onClick={onReadOffline}>{strings.readOffline}</TextButton>}
    </div>
  );
}
