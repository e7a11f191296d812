import { displayGerman } from '../locales/de/display.ts';
import { type DisplayStrings, displayEnglish } from '../locales/en/display.ts';
import { displaySpanish } from '../locales/es/display.ts';
import { displayFrench } from '../locales/fr/display.ts';
import { useLocalizedStrings } from '../strings/strings.tsx';

/** Loaded in a separate chunk when the display settings open. */
export function useDisplayStrings(): DisplayStrings {
  return useLocalizedStrings({ en: displayEnglish, de: displayGerman, fr: displayFrench, es: displaySpanish });
}
