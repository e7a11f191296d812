import { useWordsOf } from '../words/words.tsx';
import { type PaletteWords, paletteEnglish } from './palette-english.ts';
import { paletteFrench } from './palette-french.ts';
import { paletteGerman } from './palette-german.ts';
import { paletteSpanish } from './palette-spanish.ts';

/** What the palette says; apart from the other words, so that only who opens it loads it. */
export function usePaletteWords(): PaletteWords {
  return useWordsOf({ en: paletteEnglish, de: paletteGerman, fr: paletteFrench, es: paletteSpanish });
}
