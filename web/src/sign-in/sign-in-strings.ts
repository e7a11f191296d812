import { signInGerman } from '../locales/de/sign-in.ts';
import { type SignInStrings, signInEnglish } from '../locales/en/sign-in.ts';
import { signInSpanish } from '../locales/es/sign-in.ts';
import { signInFrench } from '../locales/fr/sign-in.ts';
import { type Language, useLocalizedStrings } from '../strings/strings.tsx';

/** Texts of the sign-in, in a separate chunk that only unknown visitors load. */
export const signInStrings: Readonly<Record<Language, SignInStrings>> = {
  ...{ en: signInEnglish, de: signInGerman, fr: signInFrench, es: signInSpanish },
};

export function useSignInStrings(): SignInStrings {
  return useLocalizedStrings(signInStrings);
}
