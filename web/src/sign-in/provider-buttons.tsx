import type { SignInOption } from '#contract/page/sign-in-option.ts';
import { useStrings } from '../strings/strings.tsx';
import { readSignInOptions } from './read-sign-in-options.ts';
import { SignInError, type SignInProblem } from './sign-in-error.ts';
import { useSignInStrings } from './sign-in-strings.ts';
import './sign-in.css';

interface ProviderButtonsProps {
  readonly providers: readonly SignInOption[];
  /** Whether the browser stores the sign-in until the user signs out. */
  readonly isPersistent: boolean;
  readonly onProblem: (problem: { readonly message: string | SignInProblem } | undefined) => void;
}

/** A button for each identity provider, which leaves the page. */
export function ProviderButtons({ providers, isPersistent, onProblem }: ProviderButtonsProps) {
  const strings = useStrings();
  const signInStrings = useSignInStrings();
  const redirect = async (provider: SignInOption): Promise<void> => {
    onProblem(undefined);
    try {
      const { startSignIn } = await import('./authorization-code.ts');
      location.assign(await startSignIn(provider.endpoints === null ? await reloadProvider(provider) : provider, isPersistent));
    } catch (error) {
      onProblem({ message: error instanceof SignInError ? error.problem : strings.unreachable });
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
