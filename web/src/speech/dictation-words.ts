import { useWordsOf } from '../words/words.tsx';
import { type DictationWords, dictationEnglish } from './dictation-english.ts';
import { dictationFrench } from './dictation-french.ts';
import { dictationGerman } from './dictation-german.ts';
import { dictationSpanish } from './dictation-spanish.ts';

/** Apart from the other words, so that only who dictates loads them. */
export function useDictationWords(): DictationWords {
  return useWordsOf({ en: dictationEnglish, de: dictationGerman, fr: dictationFrench, es: dictationSpanish });
}
