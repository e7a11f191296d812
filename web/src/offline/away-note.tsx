import { Icon } from '../parts/icon.tsx';
import { useWords } from '../words/words.tsx';
import { readKnownUser } from './known-user.ts';

/** Says that nobody can sign in, and leads to what the browser has. */
export function AwayNote({ readKept }: { readonly readKept: () => void }) {
  const words = useWords();
  return (
    <div className="farewell" role="status">
      <p className="away-note">
        <Icon name="offline" />
        {words.awaySigningIn(!navigator.onLine)}
      </p>
      {readKnownUser() !== undefined && (
        <button type="button" className="button" onClick={readKept}>
          {words.readKept}
        </button>
      )}
    </div>
  );
}
