import { useLocalizedStrings } from '../strings/strings.tsx';
import { type BackgroundStrings, backgroundEnglish } from './background-english.ts';
import { backgroundFrench } from './background-french.ts';
import { backgroundGerman } from './background-german.ts';
import { backgroundSpanish } from './background-spanish.ts';

/** Texts of the background page, in a separate chunk that only this page loads. */
export function useBackgroundStrings(): BackgroundStrings {
  return useLocalizedStrings({ en: backgroundEnglish, de: backgroundGerman, fr: backgroundFrench, es: backgroundSpanish });
}
