import { tryParseJson } from '#base/json/json.ts';
import type { Credentials } from '../service/credentials.ts';
import { forgetSignIn } from '../sign-in/kept.ts';
import type { Words } from '../words/english.ts';

const name = 'parley key';
const userName = 'parley key of';

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

/**
 * Returns the key of a link's `#key=…`, and always removes it from the address and the history. The key is not stored, because
 * another person may have made the link.
 */
export function takeLinkedKey(): string | undefined {
  const { hash, pathname, search } = location;
  const linked = new URLSearchParams(hash.slice(1)).get('key');
  if (linked === null) return undefined;
  history.replaceState(null, '', `${pathname}${search}`);
  return linked === '' ? undefined : linked;
}

/** The key that this tab keeps. */
export function readKey(): string | undefined {
  return sessionStorage.getItem(name) ?? undefined;
}

/** Keeps the key until the tab is closed, and whose it is as soon as that is known. */
export function keepKey(key: string, user?: string): void {
  sessionStorage.setItem(name, key);
  if (user !== undefined) sessionStorage.setItem(userName, JSON.stringify([key, user]));
}

/** Whose the key is, if this tab was told. */
function userOfKey(key: string): string | undefined {
  const kept = tryParseJson(sessionStorage.getItem(userName) ?? '');
  return Array.isArray(kept) && kept[0] === key ? String(kept[1]) : undefined;
}

export function forgetKey(): void {
  sessionStorage.removeItem(name);
  sessionStorage.removeItem(userName);
}
