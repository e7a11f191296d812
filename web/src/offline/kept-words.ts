import { useWordsOf } from '../words/words.tsx';
import { type KeptWords, keptEnglish } from './kept-english.ts';
import { keptFrench } from './kept-french.ts';
import { keptGerman } from './kept-german.ts';
import { keptSpanish } from './kept-spanish.ts';

/** What is said where conversations are read without a network; apart from the other words, so that only who reads so loads it. */
export function useKeptWords(): KeptWords {
  return useWordsOf({ en: keptEnglish, de: keptGerman, fr: keptFrench, es: keptSpanish });
}
