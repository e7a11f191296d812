import type { SignInWords } from './sign-in-english.ts';
import type { SignInTrouble } from './sign-in-fault.ts';

const longestDetail = 300;

/** Says what happened and what to do. */
export function tellTrouble({ kind, name, code = '', detail = '' }: SignInTrouble, words: SignInWords): string {
  if (kind === 'stale') return words.signInStale;
  if (kind === 'foreign') return words.signInForeign(name);
  if (kind === 'insecure') return words.signInNeedsHttps(name);
  if (kind === 'unreachable') return words.signInUnreachable(name);
  if (kind === 'unusable') return words.signInUnusable(name);
  if (kind === 'unavailable' || code === 'server_error' || code === 'temporarily_unavailable')
    return words.signInUnavailable(name);
  if (code === 'access_denied') return words.signInDeclined(name);
  if (code === 'invalid_grant') return words.signInStale;
  const said = detail === '' ? code : `${detail} (${code})`;
  return words.signInRefused(name, said.slice(0, longestDetail));
}
