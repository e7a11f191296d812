import { useLocalizedStrings } from '../strings/strings.tsx';
import { type DisplayStrings, displayEnglish } from './display-english.ts';
import { displayFrench } from './display-french.ts';
import { displayGerman } from './display-german.ts';
import { displaySpanish } from './display-spanish.ts';

/** Loaded in a separate chunk when the display settings open. */
export function useDisplayStrings(): DisplayStrings {
  return useLocalizedStrings({ en: displayEnglish, de: displayGerman, fr: displayFrench, es: displaySpanish });
}
