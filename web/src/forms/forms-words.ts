import { useWordsOf } from '../words/words.tsx';
import { type FormsWords, formsEnglish } from './forms-english.ts';
import { formsFrench } from './forms-french.ts';
import { formsGerman } from './forms-german.ts';
import { formsSpanish } from './forms-spanish.ts';

/** What a form says; apart from the other words, so that it is loaded with the first one. */
export function useFormsWords(): FormsWords {
  return useWordsOf({ en: formsEnglish, de: formsGerman, fr: formsFrench, es: formsSpanish });
}
