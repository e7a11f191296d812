import { backgroundGerman } from '../locales/de/background.ts';
import { type BackgroundStrings, backgroundEnglish } from '../locales/en/background.ts';
import { backgroundSpanish } from '../locales/es/background.ts';
import { backgroundFrench } from '../locales/fr/background.ts';
import { useLocalizedStrings } from '../strings/strings.tsx';

/** Texts of the background page, in a separate chunk that only this page loads. */
export function useBackgroundStrings(): BackgroundStrings {
  return useLocalizedStrings({ en: backgroundEnglish, de: backgroundGerman, fr: backgroundFrench, es: backgroundSpanish });
}
