import { isJsonObject, tryParseJson } from '#base/json/json.ts';
import type { SignInEndpoints, SignInWay } from '#contract/page/sign-in-way.ts';

/** A way whose provider could be asked. */
export type ReadyProvider = SignInWay & { readonly endpoints: SignInEndpoints };

/** What the tab remembers while the browser is at the provider. */
export interface PendingSignIn {
  readonly way: ReadyProvider;
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  readonly redirectUri: string;
  /** Where in the page the user was, as the address says it: `#/…`. */
  readonly place: string;
}

/** What a provider gave, as it is kept. */
export interface Tokens {
  /** The one that the service is sent. */
  readonly sent: string;
  readonly refresh: string | undefined;
  /** Tells the provider who signs out. */
  readonly id: string | undefined;
  /** From then on new ones are fetched before the next request; null where nobody said how long these live. */
  readonly renewAtMs: number | null;
}

/** A sign-in that holds in this tab. */
export interface StoredSignIn {
  readonly way: ReadyProvider;
  readonly tokens: Tokens;
  /** Whose sign-in it is, as the service names them; absent until it was asked. */
  readonly user?: string;
}

const pendingKey = 'parley sign-in begun';
const signInKey = 'parley sign-in';

export function storePending(pending: PendingSignIn): void {
  sessionStorage.setItem(pendingKey, JSON.stringify(pending));
}

/** What was begun in this tab, which is good once. */
export function consumePending(): PendingSignIn | undefined {
  const pending = loadObject(pendingKey, 'state');
  sessionStorage.removeItem(pendingKey);
  return pending as PendingSignIn | undefined;
}

export function storeSignIn(signIn: StoredSignIn): void {
  sessionStorage.setItem(signInKey, JSON.stringify(signIn));
}

export function loadSignIn(): StoredSignIn | undefined {
  return loadObject(signInKey, 'tokens') as StoredSignIn | undefined;
}

export function clearSignIn(): void {
  sessionStorage.removeItem(signInKey);
  sessionStorage.removeItem(pendingKey);
}

function loadObject(name: string, requiredField: string): unknown {
  const value = tryParseJson(sessionStorage.getItem(name) ?? '');
  return isJsonObject(value) && isJsonObject(value.way) && value[requiredField] !== undefined ? value : undefined;
}
