import { type Language, useLocalizedStrings } from '../strings/strings.tsx';
import { type SignInStrings, signInEnglish } from './sign-in-english.ts';
import { signInFrench } from './sign-in-french.ts';
import { signInGerman } from './sign-in-german.ts';
import { signInSpanish } from './sign-in-spanish.ts';

/** Texts of the sign-in, in a separate chunk that only unknown visitors load. */
export const signInStrings: Readonly<Record<Language, SignInStrings>> = {
  ...{ en: signInEnglish, de: signInGerman, fr: signInFrench, es: signInSpanish },
};

export function useSignInStrings(): SignInStrings {
  return useLocalizedStrings(signInStrings);
}
