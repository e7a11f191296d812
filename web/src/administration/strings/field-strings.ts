import { fieldsGerman } from '../../locales/de/fields.ts';
import { type FieldStrings, fieldsEnglish } from '../../locales/en/fields.ts';
import { fieldsSpanish } from '../../locales/es/fields.ts';
import { fieldsFrench } from '../../locales/fr/fields.ts';
import { useLocalizedStrings } from '../../strings/strings.tsx';

/** Texts for the fields of configuration entries. */
export function useFieldStrings(): FieldStrings {
  return useLocalizedStrings({ en: fieldsEnglish, de: fieldsGerman, fr: fieldsFrench, es: fieldsSpanish });
}
