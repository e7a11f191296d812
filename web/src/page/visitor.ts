import type { Credentials } from '../service/credentials.ts';
import { forgetSignIn } from '../sign-in/kept.ts';
import type { Words } from '../words/english.ts';
import { forgetKey, keepKey, userOfKey } from './kept-key.ts';

/** Somebody at the entrance: with a key, or back from an identity provider. */
export interface Visitor extends Credentials {
  /** Who the service said this is when this tab last kept the same credentials. */
  readonly knownAs: string | undefined;
  /** Keeps the credentials, and whose they are, in this tab until it is closed. */
  keep(user: string): void;
  /** Forgets them; what is still under way keeps them no more. */
  leave(): void;
  /** What to say where the service does not take them; `why` in its words. */
  refusal(words: Words, why: string): string;
  /** Present for those who came from an identity provider. */
  readonly provider?: VisitorsProvider;
}

/** The identity provider that somebody came from. */
export interface VisitorsProvider {
  readonly displayName: string;
  /** Where the browser goes to sign out of the provider itself; undefined where there is no such place. */
  signOutAddress(): string | undefined;
  /** Tells the provider that its tokens are used no more, those that are under way as well. Never rejects. */
  signOut(): Promise<void>;
  /** Where the browser goes to sign in again, and come back to where it is. */
  signInAddress(): Promise<string>;
  /** Called when the sign-in is over: its tokens are refused, and there are no new ones. */
  onOver(hear: () => void): void;
}

/** Somebody with a key. */
export function visitorWithKey(key: string): Visitor {
  return {
    show: async () => ({ 'api-key': key }),
    renew: async () => false,
    knownAs: userOfKey(key),
    keep(user) {
      forgetSignIn();
      keepKey(key, user);
    },
    leave: forgetKey,
    refusal: (words) => words.keyRefused,
  };
}
