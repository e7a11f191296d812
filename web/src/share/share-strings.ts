import { useLocalizedStrings } from '../strings/strings.tsx';
import { type ShareStrings, shareEnglish } from './share-english.ts';
import { shareFrench } from './share-french.ts';
import { shareGerman } from './share-german.ts';
import { shareSpanish } from './share-spanish.ts';

/** Texts of sharing, in a separate chunk that only the dialogs load. */
export function useShareStrings(): ShareStrings {
  return useLocalizedStrings({ en: shareEnglish, de: shareGerman, fr: shareFrench, es: shareSpanish });
}
