import { useWordsOf } from '../words/words.tsx';
import { type DisplayWords, displayEnglish } from './display-english.ts';
import { displayFrench } from './display-french.ts';
import { displayGerman } from './display-german.ts';
import { displaySpanish } from './display-spanish.ts';

/** Apart from the other words, so that only who chooses loads it. */
export function useDisplayWords(): DisplayWords {
  return useWordsOf({ en: displayEnglish, de: displayGerman, fr: displayFrench, es: displaySpanish });
}
