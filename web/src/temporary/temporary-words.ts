import { useWordsOf } from '../words/words.tsx';
import { type TemporaryWords, temporaryEnglish } from './temporary-english.ts';
import { temporaryFrench } from './temporary-french.ts';
import { temporaryGerman } from './temporary-german.ts';
import { temporarySpanish } from './temporary-spanish.ts';

/** What is said of a chat that is kept nowhere; apart from the other words, so that only who chooses one loads it. */
export function useTemporaryWords(): TemporaryWords {
  return useWordsOf({ en: temporaryEnglish, de: temporaryGerman, fr: temporaryFrench, es: temporarySpanish });
}
