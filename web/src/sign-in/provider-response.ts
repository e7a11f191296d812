import { consumePending, type PendingSignIn } from './sign-in-storage.ts';

/** What an identity provider sent the browser back with. */
export interface ProviderResponse {
  readonly query: URLSearchParams;
  /** What was begun in this tab; undefined where nothing was. */
  readonly pending: PendingSignIn | undefined;
}

/** The provider's answer out of the address, which it leaves at once: the user is again where the sign-in was begun. */
export function consumeProviderResponse(): ProviderResponse | undefined {
  const query = new URLSearchParams(location.search);
  if (!query.has('state') || !(query.has('code') || query.has('error'))) return undefined;
  const pending = consumePending();
  history.replaceState(null, '', `${location.pathname}${pending?.place ?? location.hash}`);
  return { query, pending };
}
