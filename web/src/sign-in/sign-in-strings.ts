import { type Language, useLocalizedStrings } from '../strings/strings.tsx';
import { type SignInStrings, signInEnglish } from './sign-in-english.ts';
import { signInFrench } from './sign-in-french.ts';
import { signInGerman } from './sign-in-german.ts';
import { signInSpanish } from './sign-in-spanish.ts';

/** What the ways in say; apart from the other words, so that only who is not known yet loads them. */
export const signInStrings: Readonly<Record<Language, SignInStrings>> = {
  ...{ en: signInEnglish, de: signInGerman, fr: signInFrench, es: signInSpanish },
};

export function useSignInStrings(): SignInStrings {
  return useLocalizedStrings(signInStrings);
}
