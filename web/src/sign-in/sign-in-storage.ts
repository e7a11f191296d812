import { isJsonObject, tryParseJson } from '#base/json/json.ts';
import type { SignInEndpoints, SignInOption } from '#contract/page/sign-in-option.ts';

/** A sign-in option with known endpoints of the provider. */
export type ReadyProvider = SignInOption & { readonly endpoints: SignInEndpoints };

/** State that the tab stores while the browser is at the provider. */
export interface PendingSignIn {
  readonly provider: ReadyProvider;
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  readonly redirectUri: string;
  readonly isPersistent?: boolean;
  /** Hash of the page URL to which the user returns: `#/…`. */
  readonly returnHash: string;
}

/** Tokens of a provider. `refresh` is the refresh token, and `id` the ID token, which identifies the user at sign-out. */
export interface Tokens {
  /** Token for the service. */
  readonly serviceToken: string;
  readonly refresh: string | undefined;
  readonly id: string | undefined;
  /** Time after which the page renews the tokens before it sends a request. Null if their lifetime is unknown. */
  readonly renewAtMs: number | null;
}

/** A sign-in that is stored in this tab or browser. */
export interface StoredSignIn {
  readonly provider: ReadyProvider;
  readonly tokens: Tokens;
  /** Whether the browser stores the sign-in until the user signs out. Otherwise the sign-in ends when the user closes the last tab. */
  readonly isPersistent?: boolean;
  /** Name of the user at the service. Undefined before the first request. */
  readonly user?: string;
}

const pendingKey = 'parley sign-in begun';
const signInKey = 'parley sign-in';

// The stored field names never change, so that users stay signed in after an update of the page.
interface StoredPending extends Omit<PendingSignIn, 'provider' | 'returnHash'> {
  readonly way: ReadyProvider;
  readonly place: string;
}

interface StoredSignInFields extends Omit<StoredSignIn, 'provider' | 'tokens'> {
  readonly way: ReadyProvider;
  readonly tokens: Omit<Tokens, 'serviceToken'> & { readonly sent: string };
}

export function storePending({ provider, returnHash, ...otherFields }: PendingSignIn): void {
  const fields: StoredPending = { way: provider, place: returnHash, ...otherFields };
  sessionStorage.setItem(pendingKey, JSON.stringify(fields));
}

/** Returns the sign-in that was started in this tab. It can be read once. */
function consumePending(): PendingSignIn | undefined {
  const fields = loadObject<StoredPending>(pendingKey, 'state');
  sessionStorage.removeItem(pendingKey);
  if (fields === undefined) return undefined;
  const { way, place, ...otherFields } = fields;
  return { provider: way, returnHash: place, ...otherFields };
}

export function storeSignIn({ provider, tokens: { serviceToken, ...otherTokens }, ...otherFields }: StoredSignIn): void {
  const fields: StoredSignInFields = { way: provider, tokens: { sent: serviceToken, ...otherTokens }, ...otherFields };
  getStorage(otherFields.isPersistent).setItem(signInKey, JSON.stringify(fields));
}

export function loadSignIn(): StoredSignIn | undefined {
  const fields = loadObject<StoredSignInFields>(signInKey, 'tokens') ?? loadObject(signInKey, 'tokens', localStorage);
  if (fields === undefined) return undefined;
  const { way, tokens, ...otherFields } = fields;
  const { sent, ...otherTokens } = tokens;
  return { provider: way, tokens: { serviceToken: sent, ...otherTokens }, ...otherFields };
}

export function clearSignIn(isPersistent = false): void {
  sessionStorage.removeItem(signInKey);
  sessionStorage.removeItem(pendingKey);
  if (isPersistent) localStorage.removeItem(signInKey);
}

/** Returns the storage of the browser or of the tab. */
export function getStorage(isPersistent = false): Storage {
  return isPersistent ? localStorage : sessionStorage;
}

function loadObject<Stored>(
  name: string,
  requiredField: keyof Stored & string,
  storage: Storage = sessionStorage,
): Stored | undefined {
  const value = tryParseJson(storage.getItem(name) ?? '');
  const isComplete = isJsonObject(value) && isJsonObject(value.way) && value[requiredField] !== undefined;
  return isComplete ? (value as Stored) : undefined;
}

/** Response of an identity provider in the URL of the page. */
export interface ProviderResponse {
  readonly query: URLSearchParams;
  /** The sign-in that was started in this tab, or undefined. */
  readonly pending: PendingSignIn | undefined;
}

/** Reads the response from the URL of the page, and immediately replaces the URL with the one where the sign-in started. */
export function consumeProviderResponse(): ProviderResponse | undefined {
  const query = new URLSearchParams(location.search);
  if (!query.has('state') || !(query.has('code') || query.has('error'))) return undefined;
  const pending = consumePending();
  history.replaceState(null, '', `${location.pathname}${pending?.returnHash ?? location.hash}`);
  return { query, pending };
}
