import { useLocalizedStrings } from '../strings/strings.tsx';
import { type FormsStrings, formsEnglish } from './forms-english.ts';
import { formsFrench } from './forms-french.ts';
import { formsGerman } from './forms-german.ts';
import { formsSpanish } from './forms-spanish.ts';

/** Texts of forms, in a separate chunk that is loaded with the first form. */
export function useFormsStrings(): FormsStrings {
  return useLocalizedStrings({ en: formsEnglish, de: formsGerman, fr: formsFrench, es: formsSpanish });
}
