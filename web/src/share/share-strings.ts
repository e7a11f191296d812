import { shareGerman } from '../locales/de/share.ts';
import { type ShareStrings, shareEnglish } from '../locales/en/share.ts';
import { shareSpanish } from '../locales/es/share.ts';
import { shareFrench } from '../locales/fr/share.ts';
import { useLocalizedStrings } from '../strings/strings.tsx';

/** Texts of shared chats, in a separate chunk that only the dialog and the page of a shared chat load. */
export function useShareStrings(): ShareStrings {
  return useLocalizedStrings({ en: shareEnglish, de: shareGerman, fr: shareFrench, es: shareSpanish });
}
