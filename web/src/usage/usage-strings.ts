import { useLocalizedStrings } from '../strings/strings.tsx';
import { type UsageStrings, usageEnglish } from './usage-english.ts';
import { usageFrench } from './usage-french.ts';
import { usageGerman } from './usage-german.ts';
import { usageSpanish } from './usage-spanish.ts';

/** What the page of usage says; apart from the other words, so that only who looks at it loads it. */
export function useUsageStrings(): UsageStrings {
  return useLocalizedStrings({ en: usageEnglish, de: usageGerman, fr: usageFrench, es: usageSpanish });
}
