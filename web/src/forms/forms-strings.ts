import { useLocalizedStrings } from '../strings/strings.tsx';
import { type FormsStrings, formsEnglish } from './forms-english.ts';
import { formsFrench } from './forms-french.ts';
import { formsGerman } from './forms-german.ts';
import { formsSpanish } from './forms-spanish.ts';

/** What a form says; apart from the other words, so that it is loaded with the first one. */
export function useFormsStrings(): FormsStrings {
  return useLocalizedStrings({ en: formsEnglish, de: formsGerman, fr: formsFrench, es: formsSpanish });
}
