import { consumePending, type PendingSignIn } from './sign-in-storage.ts';

/** Response of an identity provider in the address. */
export interface ProviderResponse {
  readonly query: URLSearchParams;
  /** The sign-in that was started in this tab, or undefined. */
  readonly pending: PendingSignIn | undefined;
}

/** Reads the response from the address and immediately removes it. The user then is at the place where the sign-in started. */
export function consumeProviderResponse(): ProviderResponse | undefined {
  const query = new URLSearchParams(location.search);
  if (!query.has('state') || !(query.has('code') || query.has('error'))) return undefined;
  const pending = consumePending();
  history.replaceState(null, '', `${location.pathname}${pending?.returnHash ?? location.hash}`);
  return { query, pending };
}
