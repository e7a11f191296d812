import { usageGerman } from '../locales/de/usage.ts';
import { type UsageStrings, usageEnglish } from '../locales/en/usage.ts';
import { usageSpanish } from '../locales/es/usage.ts';
import { usageFrench } from '../locales/fr/usage.ts';
import { useLocalizedStrings } from '../strings/strings.tsx';

/** Texts of the usage page, in a separate chunk that only this page loads. */
export function useUsageStrings(): UsageStrings {
  return useLocalizedStrings({ en: usageEnglish, de: usageGerman, fr: usageFrench, es: usageSpanish });
}
