import type { SignInWay } from '#contract/page/sign-in-way.ts';
import { useWords } from '../words/words.tsx';
import { SignInFault, type SignInTrouble } from './sign-in-fault.ts';
import { useSignInWords } from './sign-in-words.ts';
import { readWays } from './ways.ts';
import './sign-in.css';

interface ProviderButtonsProps {
  readonly ways: readonly SignInWay[];
  readonly onTrouble: (trouble: { readonly said: string | SignInTrouble } | undefined) => void;
}

/** A button for each identity provider. It leads away from the page. */
export function ProviderButtons({ ways, onTrouble }: ProviderButtonsProps) {
  const words = useWords();
  const own = useSignInWords();
  const leave = async (way: SignInWay): Promise<void> => {
    onTrouble(undefined);
    try {
      const { beginSignIn } = await import('./authorization-code.ts');
      location.assign(await beginSignIn(way.endpoints === null ? await readAnew(way) : way));
    } catch (thrown) {
      onTrouble({ said: thrown instanceof SignInFault ? thrown.trouble : words.unreachable });
    }
  };
  return (
    <div className="providers">
      {ways.map((way) => (
        <button key={way.name} type="button" className="button primary" onClick={() => void leave(way)}>
          {own.signInWith(way.displayName)}
        </button>
      ))}
      <p className="divider soft small">
        <span>{own.orWithKey}</span>
      </p>
    </div>
  );
}

/** A provider that could not be asked when the page was opened may be back. */
async function readAnew(way: SignInWay): Promise<SignInWay> {
  return (await readWays()).find(({ name }) => name === way.name) ?? way;
}
