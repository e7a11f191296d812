import { useLocalizedStrings } from '../strings/strings.tsx';
import { type ConsentStrings, consentEnglish } from './consent-english.ts';
import { consentFrench } from './consent-french.ts';
import { consentGerman } from './consent-german.ts';
import { consentSpanish } from './consent-spanish.ts';

/** What the pages of consent say; apart from the other words, so that only who looks at them loads it. */
export function useConsentStrings(): ConsentStrings {
  return useLocalizedStrings({ en: consentEnglish, de: consentGerman, fr: consentFrench, es: consentSpanish });
}
