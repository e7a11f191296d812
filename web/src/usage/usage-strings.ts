import { useLocalizedStrings } from '../strings/strings.tsx';
import { type UsageStrings, usageEnglish } from './usage-english.ts';
import { usageFrench } from './usage-french.ts';
import { usageGerman } from './usage-german.ts';
import { usageSpanish } from './usage-spanish.ts';

/** Texts of the usage page, in a separate chunk that only this page loads. */
export function useUsageStrings(): UsageStrings {
  return useLocalizedStrings({ en: usageEnglish, de: usageGerman, fr: usageFrench, es: usageSpanish });
}
