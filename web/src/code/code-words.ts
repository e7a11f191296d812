import { useWordsOf } from '../words/words.tsx';
import { type CodeWords, codeEnglish } from './code-english.ts';
import { codeGerman } from './code-german.ts';

/** What the dialog for developers says; apart from the other words, so that only who looks at it loads it. */
export function useCodeWords(): CodeWords {
  return useWordsOf({ en: codeEnglish, de: codeGerman });
}
