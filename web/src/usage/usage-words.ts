import { useWordsOf } from '../words/words.tsx';
import { type UsageWords, usageEnglish } from './usage-english.ts';
import { usageGerman } from './usage-german.ts';

/** What the page of usage says; apart from the other words, so that only who looks at it loads it. */
export function useUsageWords(): UsageWords {
  return useWordsOf({ en: usageEnglish, de: usageGerman });
}
