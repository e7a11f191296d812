import { isJsonObject, tryParseJson } from '#base/json/json.ts';
import type { SignInEndpoints, SignInWay } from '#contract/page/sign-in-way.ts';

/** A way whose provider could be asked. */
export type ReadyWay = SignInWay & { readonly endpoints: SignInEndpoints };

/** What the tab remembers while the browser is at the provider. */
export interface Begun {
  readonly way: ReadyWay;
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
export interface KeptSignIn {
  readonly way: ReadyWay;
  readonly tokens: Tokens;
  /** Whose sign-in it is, as the service names them; absent until it was asked. */
  readonly user?: string;
}

const begunName = 'parley sign-in begun';
const keptName = 'parley sign-in';

export function keepBegun(begun: Begun): void {
  sessionStorage.setItem(begunName, JSON.stringify(begun));
}

/** What was begun in this tab, which is good once. */
export function takeBegun(): Begun | undefined {
  const begun = read(begunName, 'state');
  sessionStorage.removeItem(begunName);
  return begun as Begun | undefined;
}

export function keepSignIn(kept: KeptSignIn): void {
  sessionStorage.setItem(keptName, JSON.stringify(kept));
}

export function readSignIn(): KeptSignIn | undefined {
  return read(keptName, 'tokens') as KeptSignIn | undefined;
}

export function forgetSignIn(): void {
  sessionStorage.removeItem(keptName);
  sessionStorage.removeItem(begunName);
}

function read(name: string, needed: string): unknown {
  const value = tryParseJson(sessionStorage.getItem(name) ?? '');
  return isJsonObject(value) && isJsonObject(value.way) && value[needed] !== undefined ? value : undefined;
}
