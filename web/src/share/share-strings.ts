import { useLocalizedStrings } from '../strings/strings.tsx';
import { type ShareStrings, shareEnglish } from './share-english.ts';
import { shareFrench } from './share-french.ts';
import { shareGerman } from './share-german.ts';
import { shareSpanish } from './share-spanish.ts';

/** What is said of shared conversations; apart from the other words, so that only who shares loads it. */
export function useShareStrings(): ShareStrings {
  return useLocalizedStrings({ en: shareEnglish, de: shareGerman, fr: shareFrench, es: shareSpanish });
}
