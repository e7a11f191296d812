import { paletteGerman } from '../locales/de/palette.ts';
import { type PaletteStrings, paletteEnglish } from '../locales/en/palette.ts';
import { paletteSpanish } from '../locales/es/palette.ts';
import { paletteFrench } from '../locales/fr/palette.ts';
import { useLocalizedStrings } from '../strings/strings.tsx';

/** Texts of the palette, in a separate chunk that only the palette loads. */
export function usePaletteStrings(): PaletteStrings {
  return useLocalizedStrings({ en: paletteEnglish, de: paletteGerman, fr: paletteFrench, es: paletteSpanish });
}
