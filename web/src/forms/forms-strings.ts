import { formsGerman } from '../locales/de/forms.ts';
import { type FormsStrings, formsEnglish } from '../locales/en/forms.ts';
import { formsSpanish } from '../locales/es/forms.ts';
import { formsFrench } from '../locales/fr/forms.ts';
import { useLocalizedStrings } from '../strings/strings.tsx';

/** Texts of forms, in a separate chunk that is loaded with the first form. */
export function useFormsStrings(): FormsStrings {
  return useLocalizedStrings({ en: formsEnglish, de: formsGerman, fr: formsFrench, es: formsSpanish });
}
