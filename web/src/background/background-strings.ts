import { useLocalizedStrings } from '../strings/strings.tsx';
import { type BackgroundStrings, backgroundEnglish } from './background-english.ts';
import { backgroundFrench } from './background-french.ts';
import { backgroundGerman } from './background-german.ts';
import { backgroundSpanish } from './background-spanish.ts';

/** What the page of background answers says; apart from the other words, so that only who looks at it loads it. */
export function useBackgroundStrings(): BackgroundStrings {
  return useLocalizedStrings({ en: backgroundEnglish, de: backgroundGerman, fr: backgroundFrench, es: backgroundSpanish });
}
