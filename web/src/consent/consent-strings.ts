import { consentGerman } from '../locales/de/consent.ts';
import { type ConsentStrings, consentEnglish } from '../locales/en/consent.ts';
import { consentSpanish } from '../locales/es/consent.ts';
import { consentFrench } from '../locales/fr/consent.ts';
import { useLocalizedStrings } from '../strings/strings.tsx';

/** Texts of the permission pages, in a separate chunk that only these pages load. */
export function useConsentStrings(): ConsentStrings {
  return useLocalizedStrings({ en: consentEnglish, de: consentGerman, fr: consentFrench, es: consentSpanish });
}
