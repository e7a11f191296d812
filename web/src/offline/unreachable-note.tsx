import { Icon } from '../parts/icon.tsx';
import { useStrings } from '../strings/strings.tsx';
import { readKnownUser } from './known-user.ts';

/** A note that the user cannot sign in, with a link to the saved chats. */
export function UnreachableNote({ onReadOffline }: { readonly onReadOffline: () => void }) {
  const strings = useStrings();
  return (
    <div className="farewell" role="status">
      <p className="away-note">
        <Icon name="offline" />
        {strings.awaySigningIn(!navigator.onLine)}
      </p>
      {readKnownUser() !== undefined && (
        <button type="button" className="button" onClick={onReadOffline}>
          {strings.readOffline}
        </button>
      )}
    </div>
  );
}
