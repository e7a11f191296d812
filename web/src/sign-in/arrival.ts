import { type Begun, takeBegun } from './kept.ts';

/** What an identity provider sent the browser back with. */
export interface Arrival {
  readonly query: URLSearchParams;
  /** What was begun in this tab; undefined where nothing was. */
  readonly begun: Begun | undefined;
}

/** The provider's answer out of the address, which it leaves at once: the user is again where the sign-in was begun. */
export function takeArrival(): Arrival | undefined {
  const query = new URLSearchParams(location.search);
  if (!query.has('state') || !(query.has('code') || query.has('error'))) return undefined;
  const begun = takeBegun();
  history.replaceState(null, '', `${location.pathname}${begun?.place ?? location.hash}`);
  return { query, begun };
}
