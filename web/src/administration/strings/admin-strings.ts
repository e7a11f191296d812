import { adminGerman } from '../../locales/de/administration.ts';
import { type AdminStrings, adminEnglish } from '../../locales/en/administration.ts';
import { adminSpanish } from '../../locales/es/administration.ts';
import { adminFrench } from '../../locales/fr/administration.ts';
import { useLocalizedStrings } from '../../strings/strings.tsx';

/** Texts of the administration, in a separate chunk that only the administration loads. */
export function useAdminStrings(): AdminStrings {
  return useLocalizedStrings({ en: adminEnglish, de: adminGerman, fr: adminFrench, es: adminSpanish });
}
