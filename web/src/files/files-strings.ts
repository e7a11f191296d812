import { filesGerman } from '../locales/de/files.ts';
import { type FilesStrings, filesEnglish } from '../locales/en/files.ts';
import { filesSpanish } from '../locales/es/files.ts';
import { filesFrench } from '../locales/fr/files.ts';
import { useLocalizedStrings } from '../strings/strings.tsx';

/** Texts of the files page, in a separate chunk that only this page loads. */
export function useFilesStrings(): FilesStrings {
  return useLocalizedStrings({ en: filesEnglish, de: filesGerman, fr: filesFrench, es: filesSpanish });
}
