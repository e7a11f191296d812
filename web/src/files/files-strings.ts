import { useLocalizedStrings } from '../strings/strings.tsx';
import { type FilesStrings, filesEnglish } from './files-english.ts';
import { filesFrench } from './files-french.ts';
import { filesGerman } from './files-german.ts';
import { filesSpanish } from './files-spanish.ts';

/** Texts of the files page, in a separate chunk that only this page loads. */
export function useFilesStrings(): FilesStrings {
  return useLocalizedStrings({ en: filesEnglish, de: filesGerman, fr: filesFrench, es: filesSpanish });
}
