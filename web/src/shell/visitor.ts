import { tryParseJson } from '#base/json/json.ts';
import type { Strings } from '../locales/en/page.ts';
import type { Credentials } from '../service/service.ts';
import type { SharedSignIn } from '../sign-in/shared-sign-in.ts';
import { clearSignIn, getStorage } from '../sign-in/sign-in-storage.ts';

const keyStorageKey = 'parley key';
const userStorageKey = 'parley key of';

/** A person who opens the page: with a key, or back from an identity provider. */
export interface Visitor extends Credentials {
  /** User that the service returned when this tab last stored the same credentials. */
  readonly knownUserId: string | undefined;
  /** Stores the credentials and their user in this tab until it is closed, or in the browser if the user chose this. */
  store(user: string): void;
  /** Returns the credentials for another tab of this browser. */
  share(user: string): SharedSignIn;
  /** Removes the credentials. Pending requests do not store them again. */
  clear(): void;
  /** Describes a rejection of the credentials. `serviceMessage` is the message of the service. */
  describeRejection(strings: Strings, serviceMessage: string): string;
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

interface KeyOptions {
  readonly isPersistent?: boolean;
  /** Name of the user at the service, if it is known. */
  readonly user?: string | undefined;
}

/** A visitor with a key. `isPersistent`: the browser stores the key until the user signs out. */
export function createKeyVisitor(key: string, { isPersistent = false, user = findUserOfKey(key) }: KeyOptions = {}): Visitor {
  return {
    getHeaders: async () => ({ 'api-key': key }),
    renew: async () => false,
    knownUserId: user,
    store(confirmedUser) {
      clearSignIn();
      storeKey(key, { isPersistent, user: confirmedUser });
    },
    share: (confirmedUser) => ({ kind: 'key', key, isPersistent, user: confirmedUser }),
    clear: () => clearKey(isPersistent),
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

/** Returns the stored key of this tab or browser. */
export function loadKey(): { readonly key: string; readonly isPersistent: boolean } | undefined {
  for (const isPersistent of [false, true]) {
    const key = getStorage(isPersistent).getItem(keyStorageKey);
    if (key !== null) return { key, isPersistent };
  }
  return undefined;
}

/** Stores the key, and its user as soon as it is known. */
export function storeKey(key: string, { isPersistent = false, user }: KeyOptions = {}): void {
  const storage = getStorage(isPersistent);
  storage.setItem(keyStorageKey, key);
  if (user !== undefined) storage.setItem(userStorageKey, JSON.stringify([key, user]));
}

/** Returns the user of the key, if this tab or browser knows it. */
function findUserOfKey(key: string): string | undefined {
  const stored = [sessionStorage, localStorage].map((storage) => tryParseJson(storage.getItem(userStorageKey) ?? ''));
  const pair = stored.find((value) => Array.isArray(value) && value[0] === key);
  return Array.isArray(pair) ? String(pair[1]) : undefined;
}

export function clearKey(isPersistent = false): void {
  for (const storage of new Set([sessionStorage, getStorage(isPersistent)])) {
    storage.removeItem(keyStorageKey);
    storage.removeItem(userStorageKey);
  }
}
