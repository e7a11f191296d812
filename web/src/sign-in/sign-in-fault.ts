import type { Words } from '../words/english.ts';

const longestDetail = 300;

export interface SignInTrouble {
  /**
   * `unavailable`: the service could not ask the provider where to go. `unreachable`: the provider did not answer the page.
   * `refused`: it answered with an error. `unusable`: it gave no token, or one that was not asked for. `stale`: nothing that was
   * begun here. `foreign`: the answer names another provider. `insecure`: the browser gives no cryptography to this address.
   */
  readonly kind: 'unavailable' | 'unreachable' | 'refused' | 'unusable' | 'stale' | 'foreign' | 'insecure';
  /** How people call the provider. */
  readonly name: string;
  /** The provider's code of the error (RFC 6749, 4.1.2.1 and 5.2). */
  readonly code?: string;
  /** What the provider said. */
  readonly detail?: string;
}

/** A sign-in that came to nothing. */
export class SignInFault extends Error {
  readonly trouble: SignInTrouble;

  constructor(trouble: SignInTrouble, cause?: unknown) {
    super(trouble.kind, { cause });
    this.name = 'SignInFault';
    this.trouble = trouble;
  }
}

/** Says what happened and what to do. */
export function tellTrouble({ kind, name, code = '', detail = '' }: SignInTrouble, words: Words): string {
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
