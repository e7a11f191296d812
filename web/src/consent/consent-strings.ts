import { useLocalizedStrings } from '../strings/strings.tsx';
import { type ConsentStrings, consentEnglish } from './consent-english.ts';
import { consentFrench } from './consent-french.ts';
import { consentGerman } from './consent-german.ts';
import { consentSpanish } from './consent-spanish.ts';

/** Texts of the permission pages, in a separate chunk that only these pages load. */
export function useConsentStrings(): ConsentStrings {
  return useLocalizedStrings({ en: consentEnglish, de: consentGerman, fr: consentFrench, es: consentSpanish });
}
