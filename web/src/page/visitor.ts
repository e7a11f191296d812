import { tryParseJson } from '#base/json/json.ts';
import type { Credentials } from '../service/credentials.ts';
import { clearSignIn } from '../sign-in/sign-in-storage.ts';
import type { Strings } from '../strings/english.ts';

const keyStorageKey = 'parley key';
const userStorageKey = 'parley key of';

/** A person who opens the page: with a key, or back from an identity provider. */
export interface Visitor extends Credentials {
  /** User that the service returned when this tab last stored the same credentials. */
  readonly knownUser: string | undefined;
  /** Stores the credentials and their user in this tab until it is closed. */
  store(user: string): void;
  /** Removes the credentials. Pending requests do not store them again. */
  clear(): void;
  /** Describes a rejection of the credentials. `why` is the message of the service. */
  describeRejection(strings: Strings, why: string): string;
  /** Set for visitors from an identity provider. */
  readonly provider?: VisitorProvider;
}

/** The identity provider of a visitor. */
export interface VisitorProvider {
  readonly displayName: string;
  /** Returns the sign-out address of the provider, or undefined if it has none. */
  getSignOutUrl(): string | undefined;
  /** Revokes the tokens at the provider, including those that are still being requested. Never rejects. */
  signOut(): Promise<void>;
  /** Returns the address for a new sign-in that returns to the current place. */
  getSignInUrl(): Promise<string>;
  /** Called when the sign-in has ended: its tokens are rejected and cannot be renewed. */
  onEnd(listener: () => void): void;
}

/** A visitor with a key. */
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

/** Returns the stored key of this tab. */
export function loadKey(): string | undefined {
  return sessionStorage.getItem(keyStorageKey) ?? undefined;
}

/** Stores the key until the tab is closed, and its user as soon as it is known. */
export function storeKey(key: string, user?: string): void {
  sessionStorage.setItem(keyStorageKey, key);
  if (user !== undefined) sessionStorage.setItem(userStorageKey, JSON.stringify([key, user]));
}

/** Returns the user of the key, if this tab knows it. */
function findUserOfKey(key: string): string | undefined {
  const stored = tryParseJson(sessionStorage.getItem(userStorageKey) ?? '');
  return Array.isArray(stored) && stored[0] === key ? String(stored[1]) : undefined;
}

export function clearKey(): void {
  sessionStorage.removeItem(keyStorageKey);
  sessionStorage.removeItem(userStorageKey);
}
