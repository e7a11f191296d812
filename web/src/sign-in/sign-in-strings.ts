import { signInGerman } from '../locales/de/sign-in.ts';
import { type SignInStrings, signInEnglish } from '../locales/en/sign-in.ts';
import { signInSpanish } from '../locales/es/sign-in.ts';
import { signInFrench } from '../locales/fr/sign-in.ts';
import { type Language, useLocalizedStrings } from '../strings/strings.tsx';
import type { SignInProblem } from './sign-in-error.ts';

/** Texts of the sign-in, in a separate chunk, because most users are already signed in. */
export const signInStrings: Readonly<Record<Language, SignInStrings>> = {
  ...{ en: signInEnglish, de: signInGerman, fr: signInFrench, es: signInSpanish },
};

export function useSignInStrings(): SignInStrings {
  return useLocalizedStrings(signInStrings);
}

const maxDetailChars = 300;

/** Describes a problem and suggests an action. */
export function describeProblem({ kind, name, code = '', detail = '' }: SignInProblem, strings: SignInStrings): string {
  if (kind === 'stale') return strings.signInStale;
  if (kind === 'foreign') return strings.signInForeign(name);
  if (kind === 'insecure') return strings.signInNeedsHttps(name);
  if (kind === 'unreachable') return strings.signInUnreachable(name);
  if (kind === 'unusable') return strings.signInUnusable(name);
  if (kind === 'unavailable' || code === 'server_error' || code === 'temporarily_unavailable')
    return strings.signInUnavailable(name);
  if (code === 'access_denied') return strings.signInDeclined(name);
  if (code === 'invalid_grant') return strings.signInStale;
  const description = detail === '' ? code : `${detail} (${code})`;
  return strings.signInRejected(name, description.slice(0, maxDetailChars));
}
