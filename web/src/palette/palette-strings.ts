import { useLocalizedStrings } from '../strings/strings.tsx';
import { type PaletteStrings, paletteEnglish } from './palette-english.ts';
import { paletteFrench } from './palette-french.ts';
import { paletteGerman } from './palette-german.ts';
import { paletteSpanish } from './palette-spanish.ts';

/** Texts of the palette, in a separate chunk that only the palette loads. */
export function usePaletteStrings(): PaletteStrings {
  return useLocalizedStrings({ en: paletteEnglish, de: paletteGerman, fr: paletteFrench, es: paletteSpanish });
}
