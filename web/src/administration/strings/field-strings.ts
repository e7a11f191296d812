import { useLocalizedStrings } from '../../strings/strings.tsx';
import { type FieldStrings, fieldsEnglish } from './fields-english.ts';
import { fieldsFrench } from './fields-french.ts';
import { fieldsGerman } from './fields-german.ts';
import { fieldsSpanish } from './fields-spanish.ts';

/** Texts of the settings of entries. */
export function useFieldStrings(): FieldStrings {
  return useLocalizedStrings({ en: fieldsEnglish, de: fieldsGerman, fr: fieldsFrench, es: fieldsSpanish });
}
