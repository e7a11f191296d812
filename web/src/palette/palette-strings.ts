import { useLocalizedStrings } from '../strings/strings.tsx';
import { type PaletteStrings, paletteEnglish } from './palette-english.ts';
import { paletteFrench } from './palette-french.ts';
import { paletteGerman } from './palette-german.ts';
import { paletteSpanish } from './palette-spanish.ts';

/** What the palette says; apart from the other words, so that only who opens it loads it. */
export function usePaletteStrings(): PaletteStrings {
  return useLocalizedStrings({ en: paletteEnglish, de: paletteGerman, fr: paletteFrench, es: paletteSpanish });
}
