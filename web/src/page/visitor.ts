import { tryParseJson } from '#base/json/json.ts';
import type { Credentials } from '../service/credentials.ts';
import { clearSignIn } from '../sign-in/sign-in-storage.ts';
import type { Strings } from '../strings/english.ts';

const keyStorageKey = 'parley key';
const userStorageKey = 'parley key of';

/** Somebody at the entrance: with a key, or back from an identity provider. */
export interface Visitor extends Credentials {
  /** Who the service said this is when this tab last kept the same credentials. */
  readonly knownUser: string | undefined;
  /** Keeps the credentials, and whose they are, in this tab until it is closed. */
  store(user: string): void;
  /** Forgets them; what is still under way keeps them no more. */
  clear(): void;
  /** What to say where the service does not take them; `why` in its words. */
  describeRejection(strings: Strings, why: string): string;
  /** Present for those who came from an identity provider. */
  readonly provider?: VisitorProvider;
}

/** The identity provider that somebody came from. */
export interface VisitorProvider {
  readonly displayName: string;
  /** Where the browser goes to sign out of the provider itself; undefined where there is no such place. */
  getSignOutUrl(): string | undefined;
  /** Tells the provider that its tokens are used no more, those that are under way as well. Never rejects. */
  signOut(): Promise<void>;
  /** Where the browser goes to sign in again, and come back to where it is. */
  getSignInUrl(): Promise<string>;
  /** Called when the sign-in is over: its tokens are refused, and there are no new ones. */
  onEnd(listener: () => void): void;
}

/** Somebody with a key. */
export function createKeyVisitor(key: string): Visitor {
  return {
    getHeaders: async () => ({ 'api-key': key }),
    renew: async () => false,
    knownUser: findUserOfKey(key),
    store(user) {
      clearSignIn();
      storeKey(key, user);
    },
    clear: clearKey,
    describeRejection: (strings) => strings.keyRefused,
  };
}

/**
 * Returns the key of a link's `#key=…`, and always removes it from the address and the history. The key is not stored, because
 * another person may have made the link.
 */
export function consumeLinkedKey(): string | undefined {
  const { hash, pathname, search } = location;
  const key = new URLSearchParams(hash.slice(1)).get('key');
  if (key === null) return undefined;
  history.replaceState(null, '', `${pathname}${search}`);
  return key === '' ? undefined : key;
}

/** The key that this tab keeps. */
export function loadKey(): string | undefined {
  return sessionStorage.getItem(keyStorageKey) ?? undefined;
}

/** Keeps the key until the tab is closed, and whose it is as soon as that is known. */
export function storeKey(key: string, user?: string): void {
  sessionStorage.setItem(keyStorageKey, key);
  if (user !== undefined) sessionStorage.setItem(userStorageKey, JSON.stringify([key, user]));
}

/** Whose the key is, if this tab was told. */
function findUserOfKey(key: string): string | undefined {
  const stored = tryParseJson(sessionStorage.getItem(userStorageKey) ?? '');
  return Array.isArray(stored) && stored[0] === key ? String(stored[1]) : undefined;
}

export function clearKey(): void {
  sessionStorage.removeItem(keyStorageKey);
  sessionStorage.removeItem(userStorageKey);
}
