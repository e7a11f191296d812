import { toReadableName } from '../forms/field.ts';
import { adminGerman } from '../locales/de/administration.ts';
import { fieldsGerman } from '../locales/de/fields.ts';
import { type AdminStrings, adminEnglish, type KindTexts } from '../locales/en/administration.ts';
import { type FieldStrings, fieldsEnglish } from '../locales/en/fields.ts';
import { adminSpanish } from '../locales/es/administration.ts';
import { fieldsSpanish } from '../locales/es/fields.ts';
import { adminFrench } from '../locales/fr/administration.ts';
import { fieldsFrench } from '../locales/fr/fields.ts';
import { useLocalizedStrings } from '../strings/strings.tsx';

/** Texts of the administration, in a separate chunk that only the administration loads. */
export function useAdminStrings(): AdminStrings {
  return useLocalizedStrings({ en: adminEnglish, de: adminGerman, fr: adminFrench, es: adminSpanish });
}

/** Texts for the fields of configuration entries. */
export function useFieldStrings(): FieldStrings {
  return useLocalizedStrings({ en: fieldsEnglish, de: fieldsGerman, fr: fieldsFrench, es: fieldsSpanish });
}

/** Returns the texts of a kind. An unknown kind has general texts. */
export function getKindTexts(strings: AdminStrings, kind: string): KindTexts {
  const { kinds } = strings;
  const texts = Object.hasOwn(kinds, kind) ? kinds[kind] : undefined;
  const title = toReadableName(kind);
  return texts ?? { title, intro: '', add: strings.addEntry, empty: strings.emptyKind(title), idHint: strings.idHint };
}
