import { useLocalizedStrings } from '../strings/strings.tsx';
import { type FilesStrings, filesEnglish } from './files-english.ts';
import { filesFrench } from './files-french.ts';
import { filesGerman } from './files-german.ts';
import { filesSpanish } from './files-spanish.ts';

/** What the page of files says; apart from the other words, so that only who looks at it loads it. */
export function useFilesStrings(): FilesStrings {
  return useLocalizedStrings({ en: filesEnglish, de: filesGerman, fr: filesFrench, es: filesSpanish });
}
