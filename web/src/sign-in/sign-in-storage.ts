import { isJsonObject, tryParseJson } from '#base/json/json.ts';
import type { SignInEndpoints, SignInOption } from '#contract/page/sign-in-option.ts';

/** A sign-in option with known endpoints of the provider. */
export type ReadyProvider = SignInOption & { readonly endpoints: SignInEndpoints };

/** State in the tab while the browser is at the provider. */
export interface PendingSignIn {
  readonly way: ReadyProvider;
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  readonly redirectUri: string;
  /** Hash of the address where the user was: `#/…`. */
  readonly place: string;
}

/** Tokens of a provider as stored. */
export interface Tokens {
  /** Token for the service. */
  readonly sent: string;
  readonly refresh: string | undefined;
  /** Identifies the user to the provider at sign-out. */
  readonly id: string | undefined;
  /** Time from which the next request first renews the tokens. Null if their lifetime is unknown. */
  readonly renewAtMs: number | null;
}

/** A sign-in that is stored in this tab. */
export interface StoredSignIn {
  readonly way: ReadyProvider;
  readonly tokens: Tokens;
  /** Name of the user at the service. Undefined before the first request. */
  readonly user?: string;
}

const pendingKey = 'parley sign-in begun';
const signInKey = 'parley sign-in';

export function storePending(pending: PendingSignIn): void {
  sessionStorage.setItem(pendingKey, JSON.stringify(pending));
}

/** Returns the sign-in that was started in this tab. It can be read once. */
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
