import { useLocalizedStrings } from '../../strings/strings.tsx';
import { type AdminStrings, adminEnglish } from './admin-english.ts';
import { adminFrench } from './admin-french.ts';
import { adminGerman } from './admin-german.ts';
import { adminSpanish } from './admin-spanish.ts';

/** Texts of the administration, in a separate chunk that only the administration loads. */
export function useAdminStrings(): AdminStrings {
  return useLocalizedStrings({ en: adminEnglish, de: adminGerman, fr: adminFrench, es: adminSpanish });
}
