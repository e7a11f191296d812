import { useWordsOf } from '../words/words.tsx';
import { type PaletteWords, paletteEnglish } from './palette-english.ts';
import { paletteGerman } from './palette-german.ts';

/** What the palette says; apart from the other words, so that only who opens it loads it. */
export function usePaletteWords(): PaletteWords {
  return useWordsOf({ en: paletteEnglish, de: paletteGerman });
}
